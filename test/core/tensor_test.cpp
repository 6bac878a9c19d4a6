// SPDX-License-Identifier: Apache-2.0
#include "core/tensor.h"

#include <cstdint>
#include <sstream>

#include "test/test.h"

namespace lssm {
namespace {

using Values = std::vector<double>;

TEST_CASE("shape: rank, sizes, numel and printing", "[tensor]") {
  const Shape shape = {2, 3, 5};
  CHECK(shape.rank() == 3);
  CHECK(shape.numel() == 30);
  CHECK((shape[0] == 2 && shape[2] == 5 && shape[-1] == 5 && shape[-3] == 2));
  CHECK(text(shape) == "[2, 3, 5]");
  CHECK(text(Shape()) == "[]");
  CHECK(Shape().numel() == 1);
  CHECK(Shape({7, 0, 3}).numel() == 0);
  CHECK(shape == Shape(std::vector<int64_t>{2, 3, 5}));
  CHECK(shape.sizes() == std::vector<int64_t>{2, 3, 5});
  CHECK(shape != Shape({2, 3}));
  CHECK(shape != Shape({2, 3, 5, 1}));
  CHECK(Shape({6}) != Shape({2, 3}));
}

TEST_CASE("shapes that cannot be are refused", "[tensor]") {
  CHECK_THROWS_WITH(Shape({1, 2, 3, 4, 5}), "shape: rank 5 is above 4");
  CHECK_THROWS_WITH(Shape({2, -1}), "shape: size -1 is negative");
  // The product would wrap around to a small number, and a tensor of that size be overrun.
  const int64_t big = int64_t(1) << 32;
  CHECK_THROWS_AS(Shape({big, big}), Error);
  CHECK_THROWS_AS(Shape({big, big, 4}), Error);
  CHECK_THROWS_AS(Shape({INT64_MAX}), Error);  // its bytes would wrap around
  CHECK(Shape({big, 0, big}).numel() == 0);
}

TEST_CASE("dtypes have names and sizes", "[tensor]") {
  CHECK(std::string(dtype_name(DType::f32)) == "f32");
  CHECK(std::string(dtype_name(DType::f64)) == "f64");
  CHECK(std::string(dtype_name(DType::i32)) == "i32");
  CHECK(dtype_bytes(DType::f32) == 4);
  CHECK(dtype_bytes(DType::f64) == 8);
  CHECK(dtype_bytes(DType::i32) == 4);
}

TEST_CASE("numbers go to a tensor and back", "[tensor]") {
  const Values values = {0, -1, 2.5, 1e10, -0.0, 3};
  CHECK(Tensor::from_host({2, 3}, values, DType::f64).to_host() == values);
  CHECK(Tensor::from_host({2, 3}, values, DType::f32).bytes() == 24);
}

TEST_CASE("values are converted to the dtype", "[tensor]") {
  CHECK(Tensor::from_host({1}, {0.1}, DType::f32).to_host()[0] == double(0.1f));
  CHECK(Tensor::from_host({1}, {0.1}, DType::f64).to_host()[0] == 0.1);
  CHECK(Tensor::from_host({3}, {-7, 0, 2147483647}, DType::i32).to_host() ==
        Values{-7, 0, 2147483647});
  CHECK_THROWS_WITH(Tensor::from_host({2, 2}, {1, 2, 3}, DType::f32),
                    "tensor: shape [2, 2] needs 4 values, got 3");
}

TEST_CASE("rows are contiguous", "[tensor]") {
  const Tensor x = Tensor::from_host({2, 3}, {0, 1, 2, 10, 11, 12}, DType::f32);
  CHECK(x.data<float>()[1 * 3 + 2] == 12);
  CHECK(reinterpret_cast<uintptr_t>(x.raw()) % 64 == 0);  // SIMD loads want this
}

TEST_CASE("a tensor answers only for its own dtype", "[tensor]") {
  const Tensor x = Tensor::zeros({2}, DType::f32);
  CHECK_THROWS_WITH(x.data<double>(), "tensor: asked for f64 numbers, has f32");
  CHECK_THROWS_AS(x.data<int32_t>(), Error);
  CHECK(with_real(DType::f32, []<class T>(T) { return sizeof(T); }) == 4);
  CHECK(with_real(DType::f64, []<class T>(T) { return sizeof(T); }) == 8);
  CHECK_THROWS_AS(with_real(DType::i32, []<class T>(T) { return sizeof(T); }), Error);
}

TEST_CASE("copies share numbers, clones have their own", "[tensor]") {
  Tensor a = Tensor::from_host({2}, {1, 2}, DType::f64);
  CHECK(a.unique());
  const Tensor shared = a;
  CHECK(!a.unique());
  const Tensor own = a.clone();
  CHECK(own.unique());
  a.data<double>()[0] = 9;
  CHECK(shared.to_host() == Values{9, 2});
  CHECK(own.to_host() == Values{1, 2});
}

TEST_CASE("reshape shares numbers and keeps their count", "[tensor]") {
  const Tensor a = Tensor::from_host({2, 3}, {1, 2, 3, 4, 5, 6}, DType::f32);
  const Tensor b = a.reshape({3, 1, 2});
  CHECK(b.raw() == a.raw());
  CHECK(b.shape() == Shape({3, 1, 2}));
  CHECK(a.shape() == Shape({2, 3}));
  CHECK(b.to_host() == a.to_host());
  CHECK_THROWS_WITH(a.reshape({5}), "reshape: [2, 3] to [5] changes the number of values");
  CHECK(Tensor::zeros({0, 3}, DType::f32).reshape({7, 0}).numel() == 0);
}

TEST_CASE("copy_from and set_zero write in place", "[tensor]") {
  Tensor a = Tensor::from_host({2}, {1, 2}, DType::f64);
  const Tensor alias = a;
  a.copy_from(Tensor::from_host({2}, {5, 6}, DType::f64));
  CHECK(alias.to_host() == Values{5, 6});
  a.set_zero();
  CHECK(alias.to_host() == Values{0, 0});
  CHECK_THROWS_AS(a.copy_from(Tensor::zeros({2}, DType::f32)), Error);
  CHECK_THROWS_AS(a.copy_from(Tensor::zeros({1, 2}, DType::f64)), Error);
}

TEST_CASE("item is the number of a tensor of one, of any dtype", "[tensor]") {
  CHECK(Tensor::from_host({1, 1}, {2.5}, DType::f32).item() == 2.5);
  CHECK(Tensor::from_host({}, {-3}, DType::f64).item() == -3);
  CHECK(Tensor::from_host({1}, {7}, DType::i32).item() == 7);
  CHECK_THROWS_WITH(Tensor::zeros({2}, DType::f32).item(), "item: the tensor has shape [2]");
}

TEST_CASE("empty handles and empty tensors are different things", "[tensor]") {
  CHECK(!Tensor());
  const Tensor none = Tensor::zeros({0, 4}, DType::f32);
  CHECK(none);
  CHECK(none.numel() == 0);
  CHECK(none.to_host().empty());
  CHECK(none.clone().shape() == Shape({0, 4}));
  CHECK(Tensor::from_host({0}, {}, DType::i32));
}

TEST_CASE("like and zeros_like take shape, dtype and device", "[tensor]") {
  const Tensor x({3, 2}, DType::i32);
  CHECK(Tensor::like(x).shape() == x.shape());
  CHECK(Tensor::like(x).dtype() == DType::i32);
  CHECK(Tensor::zeros_like(x).to_host() == Values(6, 0));
  CHECK(x.to(Device::cpu).raw() == x.raw());
}

TEST_CASE("a device that this program lacks is refused by name", "[tensor]") {
  CHECK(parse_device("cpu") == Device::cpu);
  CHECK_THROWS_AS(parse_device("gpu"), Error);
  try {
    parse_device("cuda");  // fine where there is one
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Catch::Matchers::Contains("cuda"));
    CHECK(parse_device("auto") == Device::cpu);
  }
}

}  // namespace
}  // namespace lssm
