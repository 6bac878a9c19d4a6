// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.h"

#include <algorithm>

namespace lssm {

const char* dtype_name(DType dtype) {
  return dtype == DType::f32 ? "f32" : dtype == DType::f64 ? "f64" : "i32";
}

int64_t dtype_bytes(DType dtype) { return dtype == DType::f64 ? 8 : 4; }

Shape::Shape(std::initializer_list<int64_t> sizes) { assign(sizes.begin(), sizes.size()); }

Shape::Shape(const std::vector<int64_t>& sizes) { assign(sizes.data(), sizes.size()); }

void Shape::assign(const int64_t* sizes, size_t count) {
  LSSM_CHECK(count <= size_t(kMaxRank), "shape: rank ", count, " is above ", kMaxRank);
  rank_ = int(count);
  for (size_t i = 0; i < count; ++i) {
    LSSM_CHECK(sizes[i] >= 0, "shape: size ", sizes[i], " is negative");
    sizes_[i] = sizes[i];
  }
  if (std::count(sizes, sizes + count, 0) > 0) return;
  int64_t bytes = 8;  // of the widest dtype: a product that wraps around would be overrun
  for (size_t i = 0; i < count; ++i) {
    LSSM_CHECK(sizes[i] <= INT64_MAX / bytes, "shape: ", *this, " is out of range");
    bytes *= sizes[i];
  }
}

int64_t Shape::numel() const {
  int64_t product = 1;
  for (int i = 0; i < rank_; ++i) product *= sizes_[size_t(i)];
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ &&
         std::equal(sizes_.begin(), sizes_.begin() + rank_, other.sizes_.begin());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank(); ++i) out << (i ? ", " : "") << shape[i];
  return out << ']';
}

namespace {

Buffer room_for(const Shape& shape, DType dtype, Device device) {
  try {
    return Pool::of(device).allocate(size_t(shape.numel() * dtype_bytes(dtype)));
  } catch (const Error& error) {
    fail("tensor ", shape, " of ", dtype_name(dtype), ": ", error.what());
  }
}

}  // namespace

Tensor::Tensor(const Shape& shape, DType dtype, Device device)
    : buffer_(room_for(shape, dtype, device)), shape_(shape), dtype_(dtype), device_(device) {}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  Tensor y(shape, dtype, device);
  y.set_zero();
  return y;
}

Tensor Tensor::zeros_like(const Tensor& other) {
  return zeros(other.shape(), other.dtype(), other.device());
}

Tensor Tensor::from_host(const Shape& shape, const std::vector<double>& values, DType dtype,
                         Device device) {
  LSSM_CHECK(shape.numel() == int64_t(values.size()), "tensor: shape ", shape, " needs ",
             shape.numel(), " values, got ", values.size());
  Tensor y(shape, dtype);
  if (dtype == DType::i32) {
    std::transform(values.begin(), values.end(), y.data<int32_t>(),
                   [](double v) { return int32_t(v); });
  } else {
    with_real(dtype, [&]<class T>(T) {
      std::transform(values.begin(), values.end(), y.data<T>(), [](double v) { return T(v); });
    });
  }
  return y.to(device);
}

void Tensor::check_dtype(DType asked) const {
  LSSM_CHECK(dtype_ == asked, "tensor: asked for ", dtype_name(asked), " numbers, has ",
             dtype_name(dtype_));
}

Tensor Tensor::reshape(const Shape& shape) const {
  LSSM_CHECK(shape.numel() == numel(), "reshape: ", shape_, " to ", shape,
             " changes the number of values");
  Tensor y = *this;
  y.shape_ = shape;
  return y;
}

Tensor Tensor::clone() const {
  Tensor y = like(*this);
  y.copy_from(*this);
  return y;
}

Tensor Tensor::to(Device device) const {
  if (device == device_) return *this;
  LSSM_CHECK(device == Device::cpu || device_ == Device::cpu, "tensor: copies go through the host");
  Tensor y(shape_, dtype_, device);
  if (device == Device::cpu) {
    device_memory(device_).copy_to_host(y.raw(), raw(), size_t(bytes()));
  } else {
    device_memory(device).copy_from_host(y.raw(), raw(), size_t(bytes()));
  }
  return y;
}

void Tensor::copy_from(const Tensor& other) {
  LSSM_CHECK(shape_ == other.shape_ && dtype_ == other.dtype_ && device_ == other.device_,
             "copy: from ", other.shape_, " ", dtype_name(other.dtype_), " to ", shape_, " ",
             dtype_name(dtype_));
  device_memory(device_).copy(raw(), other.raw(), size_t(bytes()));
}

void Tensor::set_zero() { device_memory(device_).zero(raw(), size_t(bytes())); }

double Tensor::item() const {
  LSSM_CHECK(numel() == 1, "item: the tensor has shape ", shape_);
  const Tensor host = to(Device::cpu);
  if (dtype_ == DType::i32) return *host.data<int32_t>();
  return with_real(dtype_, [&]<class T>(T) { return double(*host.data<T>()); });
}

std::vector<double> Tensor::to_host() const {
  const Tensor host = to(Device::cpu);
  const size_t count = size_t(numel());
  if (dtype_ == DType::i32) return {host.data<int32_t>(), host.data<int32_t>() + count};
  return with_real(dtype_, [&]<class T>(T) {
    return std::vector<double>(host.data<T>(), host.data<T>() + count);
  });
}

}  // namespace lssm
