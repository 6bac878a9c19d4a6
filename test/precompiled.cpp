// SPDX-License-Identifier: Apache-2.0
// Test programs share one precompiled header, which belongs to the target of this file.
