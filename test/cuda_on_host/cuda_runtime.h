// SPDX-License-Identifier: Apache-2.0
// CUDA on host: the part of the CUDA runtime and of the device language that the kernels of lssm
// may use, on a CPU, for tests. A .cu file compiled as C++ (-x c++) against this header runs
// unchanged: every CUDA thread is a fiber, the blocks of a launch run one after another. What is
// missing here is missing on purpose: using it is a compile error.
//
// What a passing test shows
// - The kernel computes the right numbers under several orders of its threads, warps and blocks.
// - Barriers and warp operations are used as CUDA demands. Diagnosed with file and line: lanes or
//   source lanes that a mask does not name, masks with lanes that have returned, different masks
//   or operations in one warp, different __syncthreads in one block, deadlock.
// - Fresh device memory and shared memory hold NaN, so reads before writes show in the results.
// - Pointers to host or freed memory are refused by launches and copies; copies stay in bounds.
// - Under AddressSanitizer and UBSan: no thread reads or writes past a buffer or shared array, and
//   the host does not touch device memory. Under ThreadSanitizer: no races within a block. Only
//   barriers and __syncwarp order memory; shuffles do not, just as CUDA says.
//   (ThreadSanitizer misunderstands OpenMP: run with OMP_NUM_THREADS=1.)
//
// What it does not show
// - Races between blocks, except those that another order of blocks makes visible; weak memory.
// - Timing, occupancy, coalescing, bank conflicts, registers; what nvcc makes of the code; rounding
//   (nvcc fuses multiply and add unless told not to: compare with tolerances); 32-bit overflow in
//   grids too large to emulate; broken promises of __restrict__ and __launch_bounds__; static
//   shared memory beyond 48 KB (nvcc says so).
// - Small overruns of static shared arrays, and uses of freed memory through pointers that lie in
//   device memory: these need AddressSanitizer.
//
// Rules for kernel code
// 1. __global__ templates, and functions with __shared__ variables, live in anonymous namespaces:
//    AddressSanitizer guards static variables of such functions only, and the linker may merge
//    others. No __shared__ variable has an initialiser.
// 2. Dynamic shared memory comes from one helper over coh::dynamic_shared(), the only place that
//    needs an #ifdef: `extern __shared__` is not valid C++.
// 3. Launch by cudaLaunchKernelEx; <<<>>> is not C++. Arguments are trivially copyable.
//    The stack of a thread has 256 KB.
// 4. Warp operations name exactly the lanes that execute them: blocks are multiples of 32 threads,
//    and lanes return together, after the last warp operation.
// 5. No waiting for another block. No exceptions and no runtime calls in kernels.
// 6. Standard maths names: std::exp, sqrtf; no intrinsics such as __expf.
//
// Environment (coh.h does the same from within a program)
// - COH_SCHEDULE: the order of threads, blocks and independent streams.
//     forward (default), reverse: threads take turns
//     random:SEED: any thread that can run is next
//     priority:SEED: some warps run far ahead of the others, which finds buffers that are reused
//       without a barrier; no order finds everything
// - COH_LAZY=1: work of a stream runs at the latest moment that CUDA allows, when synchronised.
// - COH_MEMORY: bytes of device memory (2 GiB). COH_DEVICES=0: as on a machine without a driver.
//   COH_CAPABILITY: the major number of the device (9).
// - COH_LEAKS=fail: memory, streams or events left at exit, always listed, make the status 1.
//
// A diagnosis starts with "coh: ". Inside a kernel it ends the process by abort(); a mistake of the
// host is printed, and returned as the error code of CUDA. An illegal address stays for good.
//
// Cost: about 100 ns for each wait of each thread, 50 ns for a thread that never waits; two to four
// times that under AddressSanitizer, 2 to 3 us for a barrier or a thread under ThreadSanitizer.
#pragma once

#include "coh_device.h"
#include "coh_host.h"
#include "coh_types.h"
