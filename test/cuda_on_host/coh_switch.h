// SPDX-License-Identifier: Apache-2.0
// Switching between stacks on one OS thread: 10 instructions where the processor is known, else
// ucontext, which makes two system calls a switch.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(COH_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define COH_UCONTEXT
#endif

#ifdef COH_UCONTEXT

#include <ucontext.h>

namespace coh {

struct Context {
  ucontext_t state;
};
inline void make_context(Context& context, char* stack, size_t bytes, void (*entry)()) {
  getcontext(&context.state);
  context.state.uc_stack = {stack, 0, bytes};
  context.state.uc_link = nullptr;
  makecontext(&context.state, entry, 0);
}
inline void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

}  // namespace coh

#else

// Pushes what a call must preserve, stores the stack pointer in *save, takes the other stack and
// pops the same. It leaves by a jump, not a return: the processor would predict the wrong return.
extern "C" void coh_switch_stack(void** save, void* load);

namespace coh {

struct Context {
  void* stack_pointer;
};

// Lays out the stack as if entry() had been interrupted at its first instruction.
inline void make_context(Context& context, char* stack, size_t bytes, void (*entry)()) {
#ifdef __x86_64__
  constexpr int kSaved = 8;  // six registers, the address to jump to, a null return address
  constexpr int kEntry = 6;
#else
  constexpr int kSaved = 20;
  constexpr int kEntry = 11;  // x30
#endif
  uintptr_t* top = reinterpret_cast<uintptr_t*>(stack + bytes) - kSaved;
  for (int i = 0; i < kSaved; ++i) top[i] = 0;
  top[kEntry] = reinterpret_cast<uintptr_t>(entry);
  context.stack_pointer = top;
}
inline void switch_context(Context& from, Context& to) {
  coh_switch_stack(&from.stack_pointer, to.stack_pointer);
}

}  // namespace coh

#endif
