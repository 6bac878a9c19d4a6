// SPDX-License-Identifier: Apache-2.0
// Linked into lssm_on_host: its device "cuda" is the emulation, which is there before main() asks.
extern "C" const char* lssm_load_cuda_backend();

namespace {
[[maybe_unused]] const char* const reason = lssm_load_cuda_backend();
}
