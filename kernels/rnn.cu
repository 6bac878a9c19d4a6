// SPDX-License-Identifier: Apache-2.0
#include "core/special.h"
#include "kernels/columns.h"
#include "kernels/matmul.h"
#include "kernels/parallel_for.h"
#include "kernels/rnn.h"

namespace lssm::kernels {
namespace {

// One unit of a cell.   a, p: its gates and products; kept: kRnnKept numbers for the way back.
// backward() turns the gradient of the state after the step into those of a, of p and of the state
// before it, without what comes through p.
struct Gru {
  static constexpr int kGates = 3, kParts = 1;

  template <class T>
  LSSM_HD static Vec<T, 1> forward(const Vec<T, 3>& a, const Vec<T, 3>& p, const Vec<T, 1>& before,
                                   Vec<T, kRnnKept>& kept) {
    const T r = logistic(a[0] + p[0]), z = logistic(a[1] + p[1]);
    const T n = hyperbolic_tangent(a[2] + r * p[2]);
    kept = {{r, z, n, p[2]}};
    return {{n + z * (before[0] - n)}};
  }
  template <class T>
  LSSM_HD static Vec<T, 1> backward(const Vec<T, kRnnKept>& kept, const Vec<T, 1>& before,
                                    const Vec<T, 1>&, const Vec<T, 1>& d, Vec<T, 3>& da,
                                    Vec<T, 3>& dp) {
    const T r = kept[0], z = kept[1], n = kept[2];
    const T dn = d[0] * (1 - z) * (1 - n * n);
    const T dr = dn * kept[3] * r * (1 - r);
    const T dz = d[0] * (before[0] - n) * z * (1 - z);
    da = {{dr, dz, dn}};
    dp = {{dr, dz, dn * r}};
    return {{d[0] * z}};
  }
};

struct Lstm {
  static constexpr int kGates = 4, kParts = 2;

  template <class T>
  LSSM_HD static Vec<T, 2> forward(const Vec<T, 4>& a, const Vec<T, 4>& p, const Vec<T, 2>& before,
                                   Vec<T, kRnnKept>& kept) {
    const T i = logistic(a[0] + p[0]), f = logistic(a[1] + p[1]);
    const T g = hyperbolic_tangent(a[2] + p[2]), o = logistic(a[3] + p[3]);
    kept = {{i, f, g, o}};
    const T c = f * before[1] + i * g;
    return {{o * hyperbolic_tangent(c), c}};
  }
  template <class T>
  LSSM_HD static Vec<T, 2> backward(const Vec<T, kRnnKept>& kept, const Vec<T, 2>& before,
                                    const Vec<T, 2>& after, const Vec<T, 2>& d, Vec<T, 4>& da,
                                    Vec<T, 4>& dp) {
    const T i = kept[0], f = kept[1], g = kept[2], o = kept[3], seen = hyperbolic_tangent(after[1]);
    const T dc = d[1] + d[0] * o * (1 - seen * seen);
    da = {{dc * g * i * (1 - i), dc * before[1] * f * (1 - f), dc * i * (1 - g * g),
           d[0] * seen * o * (1 - o)}};
    dp = da;
    return {{T(0), dc * f}};
  }
};

// The states of all steps, and what stands before the first.
template <class T>
struct States {
  int64_t length, width, size;  // size: numbers of one state
  int64_t h0_stride;            // from one sequence to the next: size, or 0
  const int32_t* reset;         // or null
  const T* h;
  const T* h0;
  const T* carried;  // or null

  LSSM_HD bool from_start(int64_t row, int64_t t) const {
    return (reset && reset[row * length + t]) || (t == 0 && !carried);
  }
  LSSM_HD const T* before(int64_t row, int64_t t) const {
    return from_start(row, t) ? h0 + row * h0_stride
           : t == 0           ? carried + row * size
                              : h + (row * length + t - 1) * size;
  }
};

template <class T>
States<T> states_of(const RnnInputs& in, const Tensor& h) {
  const int64_t width = in.gates.dim(3), size = h.dim(2) * width;
  return {h.dim(1),
          width,
          size,
          in.h0.dim(0) == 1 ? 0 : size,
          data_or_null<int32_t>(in.reset),
          h.data<T>(),
          in.h0.data<T>(),
          data_or_null<T>(in.carried)};
}

// The states before steps, written out part by part: h as the rows of a matrix, and where there is
// c, that as rows of another. The maps below are vectorised because they read these.
template <class T>
struct Before {
  T* h;
  T* c;  // or null

  template <int N>
  LSSM_HD Vec<T, N> load(int64_t place) const {
    Vec<T, N> x;
    x[0] = h[place];
    if constexpr (N > 1) x[1] = c[place];
    return x;
  }
};

// Fills a Before: for step t of some rows, or (t < 0) for all steps of all.
template <class T>
struct Gather {
  States<T> states;
  int64_t first, t;
  Before<T> before;
  LSSM_HD void operator()(int64_t i, int64_t col) const {
    const int64_t row = t < 0 ? i / states.length : first + i;
    const T* state = states.before(row, t < 0 ? i % states.length : t);
    before.h[i * states.width + col] = state[col];
    if (before.c) before.c[i * states.width + col] = state[states.width + col];
  }
};

// Step t of some rows, the first of them `first`.
template <class Cell, class T>
struct Step {
  int64_t length, width, first, t;
  Before<T> before;   // of this step of these rows
  const T* products;  // [rows, gates, width]
  const T* gates;
  T* h;
  T* kept;  // or null
  LSSM_HD void operator()(int64_t i, int64_t col) const {
    const int64_t step = (first + i) * length + t;
    const Columns<Cell::kGates> by_gate = {width};
    Vec<T, kRnnKept> keep;
    const auto after = Cell::forward(by_gate.load(gates, step, col), by_gate.load(products, i, col),
                                     before.template load<Cell::kParts>(i * width + col), keep);
    Columns<Cell::kParts>{width}.store(after, h, step, col);
    if (kept) Columns<kRnnKept>{width}.store(keep, kept, step, col);
  }
};

// What arrives at the state before a step: directly, and by the products of the step.
template <class T>
struct Arriving {
  T* direct;   // [batch, parts, width]
  T* through;  // [batch, width]
};

template <class Cell, class T>
struct StepBackward {
  int64_t length, width, first, t;
  Before<T> before;  // of all steps
  Arriving<T> arriving;
  const T* h;
  const T* kept;
  const T* dh;
  T* dgates;     // [batch, length, gates, width]
  T* dproducts;  // [batch, length, gates, width], may be dgates
  T* dp;         // [rows, gates, width]: this step's
  LSSM_HD void operator()(int64_t i, int64_t col) const {
    const int64_t row = first + i, step = row * length + t;
    const Columns<Cell::kGates> by_gate = {width};
    const Columns<Cell::kParts> by_part = {width};
    auto d = by_part.load(dh, step, col) + by_part.load(arriving.direct, row, col);
    d[0] += arriving.through[row * width + col];
    Vec<T, Cell::kGates> to_gates, to_products;
    const auto direct = Cell::backward(Columns<kRnnKept>{width}.load(kept, step, col),
                                       before.template load<Cell::kParts>(step * width + col),
                                       by_part.load(h, step, col), d, to_gates, to_products);
    by_part.store(direct, arriving.direct, row, col);
    by_gate.store(to_gates, dgates, step, col);
    by_gate.store(to_products, dproducts, step, col);
    by_gate.store(to_products, dp, i, col);
  }
};

// Where step t starts from h0, what arrives there is for h0 and not for the state before.
template <class T>
struct Restart {
  States<T> states;
  Arriving<T> arriving;
  int64_t first, t;
  T* dh0;  // [batch, parts, width]
  LSSM_HD void operator()(int64_t i, int64_t col) const {
    const int64_t row = first + i;
    if (!states.from_start(row, t)) return;
    const int64_t width = states.width, begin = row * states.size + col;
    T& through = arriving.through[row * width + col];
    dh0[begin] += through;
    through = 0;
    for (int64_t place = begin; place < (row + 1) * states.size; place += width) {
      dh0[place] += arriving.direct[place];
      arriving.direct[place] = 0;
    }
  }
};

// What is left before step 0 is for the state that was carried there.
template <class T>
struct ToCarried {
  int64_t width, size;
  Arriving<T> arriving;
  T* dcarried;
  LSSM_HD void operator()(int64_t row, int64_t i) const {
    const T direct = arriving.direct[row * size + i];
    dcarried[row * size + i] = i < width ? direct + arriving.through[row * width + i] : direct;
  }
};

// f(first, rows) for blocks of the batch, which walk through time by themselves; y = x u + bias and
// dx = dy u^T for the rows of a block.
#ifdef LSSM_CUDA_BACKEND
template <class F>
void for_blocks(int64_t batch, F f) {
  if (batch > 0) f(0, batch);
}
template <class T>
void multiply(const LinearMap<T>& u, int64_t rows, const T* x, T* y) {
  linear_rows_cuda(u, rows, x, y);
}
template <class T>
void multiply_back(const LinearMap<T>& u, int64_t rows, const T* dy, T* dx) {
  multiply_cuda<T>(false, true, rows, u.in, u.out, dy, u.w, T(0), dx);
}
#else
template <class F>
void for_blocks(int64_t batch, F f) {
  constexpr int64_t kGrain = 32;  // sequences that are worth a thread, and a packed u at each step
  for_partitions(batch, kGrain, [&f](int, int64_t begin, int64_t end) {
    for_row_blocks(begin, end, [&f](int64_t first, int64_t rows) { f(first, rows); });
  });
}
template <class T>
void multiply(const LinearMap<T>& u, int64_t rows, const T* x, T* y) {
  linear_rows_cpu(u, rows, x, y);
}
template <class T>
void multiply_back(const LinearMap<T>& u, int64_t rows, const T* dy, T* dx) {
  linear_rows_backward_cpu(u, rows, dy, dx);
}
#endif

template <class Cell, class T>
void forward(const RnnInputs& in, Tensor& h, Tensor& kept) {
  const States<T> states = states_of<T>(in, h);
  const LinearMap<T> u = linear_map<T>(in.u, in.bias);
  const int64_t batch = h.dim(0), width = states.width;
  const Device device = h.device();
  Tensor hidden({batch, width}, h.dtype(), device), products({batch, u.out}, h.dtype(), device);
  Tensor cells;
  if (Cell::kParts > 1) cells = Tensor::like(hidden);
  for_blocks(batch, [&](int64_t first, int64_t rows) {
    T* c = cells ? cells.data<T>() + first * width : nullptr;
    T* p = products.data<T>() + first * u.out;
    const Before<T> before = {hidden.data<T>() + first * width, c};
    for (int64_t t = 0; t < states.length; ++t) {
      parallel_for_rows(device, rows, width, Gather<T>{states, first, t, before});
      multiply(u, rows, before.h, p);
      const Step<Cell, T> step = {
          states.length,        width, first, t, before, p, in.gates.data<T>(), h.data<T>(),
          data_or_null<T>(kept)};
      parallel_for_rows(device, rows, width, step);
    }
  });
}

template <class Cell, class T>
void backward(const RnnInputs& in, const Tensor& h, const Tensor& kept, const Tensor& dh,
              RnnGradients& out) {
  const States<T> states = states_of<T>(in, h);
  const LinearMap<T> u = linear_map<T>(in.u, Tensor());
  const int64_t batch = h.dim(0), width = states.width, all = batch * states.length;
  const Device device = h.device();
  const auto zeros = [&](const Shape& shape) { return Tensor::zeros(shape, h.dtype(), device); };
  Tensor hidden({all, width}, h.dtype(), device), cells, dp({batch, u.out}, h.dtype(), device);
  if (Cell::kParts > 1) cells = Tensor::like(hidden);
  const Before<T> before = {hidden.data<T>(), cells ? cells.data<T>() : nullptr};
  parallel_for_rows(device, all, width, Gather<T>{states, 0, -1, before});

  Tensor direct = zeros({batch, states.size}), through = zeros({batch, width});
  const Arriving<T> arriving = {direct.data<T>(), through.data<T>()};
  Tensor dproducts = in.cell == RnnCell::lstm ? out.gates : Tensor::like(out.gates);
  out.h0.set_zero();
  for_blocks(batch, [&](int64_t first, int64_t rows) {
    T* d = dp.data<T>() + first * u.out;
    for (int64_t t = states.length - 1; t >= 0; --t) {
      const StepBackward<Cell, T> step = {states.length,
                                          width,
                                          first,
                                          t,
                                          before,
                                          arriving,
                                          h.data<T>(),
                                          kept.data<T>(),
                                          dh.data<T>(),
                                          out.gates.data<T>(),
                                          dproducts.data<T>(),
                                          d};
      parallel_for_rows(device, rows, width, step);
      multiply_back(u, rows, d, through.data<T>() + first * width);
      const Restart<T> restart = {states, arriving, first, t, out.h0.data<T>()};
      if (states.reset || t == 0) parallel_for_rows(device, rows, width, restart);
    }
  });
  if (out.carried) {
    const ToCarried<T> rest = {width, states.size, arriving, out.carried.data<T>()};
    parallel_for_rows(device, batch, states.size, rest);
  }
  const Shape by_step = {all, u.out};  // one product for all steps
  linear_backward_weight(hidden, dproducts.reshape(by_step), out.u, out.bias);
}

template <class F>
void with_cell(RnnCell cell, F f) {
  return cell == RnnCell::gru ? f(Gru{}) : f(Lstm{});
}

void rnn_map(const RnnInputs& in, Tensor& states, Tensor& kept) {
  with_real(states.dtype(), [&]<class T>(T) {
    with_cell(in.cell, [&]<class Cell>(Cell) { forward<Cell, T>(in, states, kept); });
  });
}

void rnn_backward_map(const RnnInputs& in, const Tensor& states, const Tensor& kept,
                      const Tensor& dstates, RnnGradients& out) {
  with_real(states.dtype(), [&]<class T>(T) {
    with_cell(in.cell,
              [&]<class Cell>(Cell) { backward<Cell, T>(in, states, kept, dstates, out); });
  });
}

}  // namespace

#define LSSM_RNN(X) X(rnn) X(rnn_backward)
LSSM_MAP_KERNELS(rnn, LSSM_RNN)

}  // namespace lssm::kernels
