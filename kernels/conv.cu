// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv.h"
#include "kernels/parallel_for.h"

namespace lssm::kernels {
namespace {

// The inputs of one chunk. Step t of row r is at r * length + t; steps -past … -1 were carried.
struct Chunk {
  int64_t length, width, past;
  const int32_t* reset;  // or null

  // Whether a sequence starts afresh at step t: then no later step sees what is before t.
  LSSM_HD bool starts(int64_t row, int64_t t) const {
    return t >= 0 && reset && reset[row * length + t];
  }
  // Whether it does at one of the steps from `begin` to the last.
  LSSM_HD bool starts_since(int64_t row, int64_t begin) const {
    for (int64_t t = begin < 0 ? 0 : begin; t < length; ++t) {
      if (starts(row, t)) return true;
    }
    return false;
  }
  // The place of a number at step t, in the chunk or among what was carried.
  LSSM_HD int64_t place(int64_t row, int64_t t, int64_t col) const {
    return t >= 0 ? (row * length + t) * width + col : (row * past + past + t) * width + col;
  }
};

template <class T>
struct Inputs {
  Chunk at;
  const T* x;
  const T* carried;  // or null

  LSSM_HD T load(int64_t row, int64_t t, int64_t col) const {
    return t >= 0 ? x[at.place(row, t, col)] : carried ? carried[at.place(row, t, col)] : T(0);
  }
};

template <class T>
struct Conv {
  Inputs<T> in;
  const T* w;
  const T* bias;
  T* y;
  LSSM_HD void operator()(int64_t step, int64_t col) const {
    const int64_t row = step / in.at.length, t = step % in.at.length;
    T sum = bias[col];
    for (int64_t j = 0; j <= in.at.past; ++j) {
      sum += w[j * in.at.width + col] * in.load(row, t - j, col);
      if (in.at.starts(row, t - j)) break;
    }
    y[in.at.place(row, t, col)] = sum;
  }
};

// The gradient of an input at step t, -past <= t < length: the outputs t, t + 1, … that see it.
template <class T>
LSSM_HD inline T input_gradient(const Chunk& at, const T* w, const T* dy, int64_t row, int64_t t,
                                int64_t col) {
  T sum = 0;
  for (int64_t j = 0; j <= at.past && t + j < at.length; ++j) {
    if (j > 0 && at.starts(row, t + j)) break;
    if (t + j >= 0) sum += w[j * at.width + col] * dy[at.place(row, t + j, col)];
  }
  return sum;
}

// steps: how many of them, from `first` on.
template <class T>
struct InputGradients {
  Chunk at;
  int64_t first, steps;
  const T* w;
  const T* dy;
  T* out;
  LSSM_HD void operator()(int64_t step, int64_t col) const {
    const int64_t row = step / steps, t = first + step % steps;
    out[step * at.width + col] = input_gradient(at, w, dy, row, t, col);
  }
};

template <class T>
struct ParameterGradients {
  Inputs<T> in;
  const T* dy;
  T* out;
  LSSM_HD void operator()(int64_t entry, int64_t col) const {
    const int64_t k = in.at.past + 1, row = entry / (k + 1), j = entry % (k + 1);
    T sum = 0;
    for (int64_t t = 0; t < in.at.length; ++t) {
      const T d = dy[in.at.place(row, t, col)];
      sum += j == k ? d : sees(row, t, j) ? d * in.load(row, t - j, col) : T(0);
    }
    out[entry * in.at.width + col] = sum;
  }
  LSSM_HD bool sees(int64_t row, int64_t t, int64_t j) const {
    for (int64_t i = 0; i < j; ++i) {
      if (in.at.starts(row, t - i)) return false;
    }
    return true;
  }
};

template <class T>
struct Last {
  Inputs<T> in;
  T* last;
  LSSM_HD void operator()(int64_t entry, int64_t col) const {
    const int64_t past = in.at.past, row = entry / past, t = in.at.length - past + entry % past;
    last[entry * in.at.width + col] = in.at.starts_since(row, t + 1) ? T(0) : in.load(row, t, col);
  }
};

// Steps from `first` on that are among the last ones hand back what these receive.
template <class T>
struct LastBackward {
  Chunk at;
  int64_t first, steps;
  const T* dlast;
  T* out;
  LSSM_HD void operator()(int64_t step, int64_t col) const {
    const int64_t row = step / steps, t = first + step % steps, entry = t - at.length + at.past;
    const bool kept = entry >= 0 && !at.starts_since(row, t + 1);
    out[step * at.width + col] = kept ? dlast[(row * at.past + entry) * at.width + col] : T(0);
  }
};

Chunk chunk_of(const ConvInputs& in, int64_t past) {
  return {in.x.dim(1), in.x.dim(2), past, data_or_null<int32_t>(in.reset)};
}

template <class T>
Inputs<T> inputs_of(const ConvInputs& in, int64_t past) {
  return {chunk_of(in, past), in.x.data<T>(), data_or_null<T>(in.carried)};
}

void causal_conv_map(const ConvInputs& in, const Tensor& w, const Tensor& bias, Tensor& y) {
  with_real(y.dtype(), [&]<class T>(T) {
    const Conv<T> map = {inputs_of<T>(in, w.dim(0) - 1), w.data<T>(), bias.data<T>(), y.data<T>()};
    parallel_for_rows(y.device(), y.dim(0) * y.dim(1), y.dim(2), map);
  });
}

void causal_conv_backward_map(const ConvInputs& in, const Tensor& w, const Tensor& dy,
                              ConvGradients& out) {
  const int64_t batch = dy.dim(0), length = dy.dim(1), width = dy.dim(2), k = w.dim(0);
  const Chunk at = chunk_of(in, k - 1);
  with_real(dy.dtype(), [&]<class T>(T) {
    const T *filter = w.data<T>(), *d = dy.data<T>();
    const InputGradients<T> now = {at, 0, length, filter, d, out.dx.data<T>()};
    parallel_for_rows(dy.device(), batch * length, width, now);
    if (out.dcarried) {
      const InputGradients<T> before = {at, 1 - k, k - 1, filter, d, out.dcarried.data<T>()};
      parallel_for_rows(dy.device(), batch * (k - 1), width, before);
    }
    const ParameterGradients<T> sums = {inputs_of<T>(in, k - 1), d, out.dparameters.data<T>()};
    parallel_for_rows(dy.device(), batch * (k + 1), width, sums);
  });
}

void last_inputs_map(const ConvInputs& in, Tensor& last) {
  with_real(last.dtype(), [&]<class T>(T) {
    const Last<T> map = {inputs_of<T>(in, last.dim(1)), last.data<T>()};
    parallel_for_rows(last.device(), last.dim(0) * last.dim(1), last.dim(2), map);
  });
}

void last_inputs_backward_map(const ConvInputs& in, const Tensor& dlast, Tensor& dx,
                              Tensor& dcarried) {
  const int64_t batch = dx.dim(0), length = dx.dim(1), width = dx.dim(2), past = dlast.dim(1);
  const Chunk at = chunk_of(in, past);
  with_real(dx.dtype(), [&]<class T>(T) {
    const LastBackward<T> now = {at, 0, length, dlast.data<T>(), dx.data<T>()};
    parallel_for_rows(dx.device(), batch * length, width, now);
    if (!dcarried) return;
    const LastBackward<T> before = {at, -past, past, dlast.data<T>(), dcarried.data<T>()};
    parallel_for_rows(dx.device(), batch * past, width, before);
  });
}

}  // namespace

#define LSSM_CONV(X) X(causal_conv) X(causal_conv_backward) X(last_inputs) X(last_inputs_backward)
LSSM_MAP_KERNELS(conv, LSSM_CONV)

}  // namespace lssm::kernels
