// SPDX-License-Identifier: Apache-2.0
// A contiguous row-major array of numbers on one device.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

#include "core/buffer.h"
#include "core/check.h"

namespace lssm {

enum class DType { f32, f64, i32 };

const char* dtype_name(DType dtype);
int64_t dtype_bytes(DType dtype);

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}

// Calls f(float{}) or f(double{}): the way from a run-time dtype to a template argument.
template <class F>
auto with_real(DType dtype, F f) {
  LSSM_CHECK(dtype != DType::i32, "a kernel for real numbers got i32");
  return dtype == DType::f64 ? f(double{}) : f(float{});
}

// The sizes of a tensor, at most kMaxRank of them, stored in place.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(const std::vector<int64_t>& sizes);

  int rank() const { return rank_; }
  // Negative positions count from the end.
  int64_t operator[](int i) const { return sizes_[size_t(i < 0 ? i + rank_ : i)]; }
  int64_t numel() const;
  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }
  std::vector<int64_t> sizes() const { return {sizes_.begin(), sizes_.begin() + rank_}; }

 private:
  void assign(const int64_t* sizes, size_t count);

  std::array<int64_t, kMaxRank> sizes_ = {};
  int rank_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

// A handle with value syntax: copying shares the numbers, clone() copies them. No strides and no
// views but reshape, so a kernel takes a pointer and sizes. A default-constructed tensor is empty.
class Tensor {
 public:
  Tensor() = default;
  // Not initialised.
  Tensor(const Shape& shape, DType dtype, Device device = Device::cpu);

  static Tensor zeros(const Shape& shape, DType dtype, Device device = Device::cpu);
  static Tensor like(const Tensor& other) { return {other.shape(), other.dtype(), other.device()}; }
  static Tensor zeros_like(const Tensor& other);
  // Values are converted to `dtype`.
  static Tensor from_host(const Shape& shape, const std::vector<double>& values, DType dtype,
                          Device device = Device::cpu);

  explicit operator bool() const { return bool(buffer_); }
  const Shape& shape() const { return shape_; }
  int64_t dim(int i) const { return shape_[i]; }
  int64_t numel() const { return shape_.numel(); }
  int64_t bytes() const { return numel() * dtype_bytes(dtype_); }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  bool unique() const { return buffer_.unique(); }

  // The numbers, in the memory of device(). Throws unless the dtype is T's.
  template <class T>
  T* data() const {
    check_dtype(dtype_of<T>());
    return static_cast<T*>(buffer_.data());
  }
  void* raw() const { return buffer_.data(); }

  // Same numbers, other sizes.
  Tensor reshape(const Shape& shape) const;
  Tensor clone() const;
  Tensor to(Device device) const;
  void copy_from(const Tensor& other);  // same shape, dtype and device
  void set_zero();
  // The only number of a tensor of one.
  double item() const;
  // All numbers as double, copied to the host.
  std::vector<double> to_host() const;

 private:
  void check_dtype(DType asked) const;

  Buffer buffer_;
  Shape shape_;
  DType dtype_ = DType::f32;
  Device device_ = Device::cpu;
};

// The numbers of x, or null if it is empty.
template <class T>
T* data_or_null(const Tensor& x) {
  return x ? x.data<T>() : nullptr;
}

}  // namespace lssm
