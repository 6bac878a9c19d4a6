#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the numbers that statistics_test.cpp expects, with SciPy:

    python3 test/apps/statistics_golden.py > test/apps/statistics_golden.json

Student's t is checked with 40 digits of mpmath, means and variances with fractions. SciPy's
quantiles of t are good to 9 digits only, so intervals take mpmath's. What SciPy lacks is done from
the definition: Wilcoxon's exact test with ties, checked by trying every choice of signs, and Holm's
method.
"""
import itertools
import json
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats

mpmath.mp.dps = 40
random = np.random.default_rng(20240607)


def near(a, b, tolerance):
    assert abs(a - b) <= tolerance * max(abs(a), abs(b)), (a, b)
    return a


def accuracies(mean, spread, n, sequences=1000):
    """Accuracies in % of n runs, each counted over some sequences."""
    p = np.clip(random.normal(mean, spread, n), 0, 1)
    return [100 * (int(k) / sequences) for k in random.binomial(sequences, p)]


# --- Student's t ---


def mp_two_sided(t, df):
    t, df = mpmath.mpf(t), mpmath.mpf(df)
    return mpmath.betainc(df / 2, 0.5, 0, df / (df + t * t), regularized=True)


def student_case(df, t):
    p = mp_two_sided(t, df)
    near(float(p), 2 * stats.t.sf(abs(t), df), 1e-9)
    return {"n": df + 1, "t": t, "p": float(p)}


def quantile(df):
    q = stats.t.ppf(0.975, df)
    exact = mpmath.findroot(lambda t: mp_two_sided(t, df) - mpmath.mpf("0.05"), mpmath.mpf(q))
    near(float(exact), q, 1e-8)
    return float(exact)


# --- Samples ---


def describe_case(name, sample, offset=0.0):
    """SciPy's figures of the sample. A large common offset is taken off first: it is exact."""
    small = [x - offset for x in sample]
    assert all(Fraction(x) - Fraction(offset) == Fraction(s) for x, s in zip(sample, small))
    n = len(small)
    mean, std = np.mean(small), np.std(small, ddof=1)
    exact_mean = sum(map(Fraction, sample)) / n
    exact_variance = sum((Fraction(x) - exact_mean) ** 2 for x in sample) / (n - 1)
    near(float(exact_variance) ** 0.5, std, 1e-9)
    return {
        "name": name, "x": sample, "mean": near(float(exact_mean), mean + offset, 1e-12),
        "std": std, "median": np.median(small) + offset, "min": min(sample), "max": max(sample),
        "ci95": quantile(n - 1) * stats.sem(small),
    }


# --- Paired tests ---


def brute_force_wilcoxon(d):
    """(w, p) of nonzero differences from every choice of signs."""
    ranks = stats.rankdata(np.abs(d))
    total = ranks.sum()
    positive = ranks[np.asarray(d) > 0].sum()
    w = min(positive, total - positive)
    sums = [sum(r for r, s in zip(ranks, signs) if s)
            for signs in itertools.product([False, True], repeat=len(d))]
    return w, min(1.0, 2 * sum(s <= w for s in sums) / 2 ** len(d))


def exact_wilcoxon(d):
    """The same by counting sums of doubled ranks with whole numbers."""
    ranks = [int(2 * r) for r in stats.rankdata(np.abs(d))]
    positive = sum(r for r, x in zip(ranks, d) if x > 0)
    w = min(positive, sum(ranks) - positive)
    count = {0: 1}
    for r in ranks:
        more = dict(count)
        for s, c in count.items():
            more[s + r] = more.get(s + r, 0) + c
        count = more
    tail = sum(c for s, c in count.items() if s <= w)
    return w / 2, float(min(Fraction(1), Fraction(2 * tail, 2 ** len(d))))


def wilcoxon(d):
    d = [float(x) for x in d if x != 0]
    n = len(d)
    if n == 0:
        return {}
    if n > 50:
        result = stats.wilcoxon(d, correction=False, mode="approx")
        return {"n": n, "w": result.statistic, "p": result.pvalue}
    w, p = exact_wilcoxon(d)
    if len(set(np.abs(d))) == n:
        result = stats.wilcoxon(d, mode="exact")
        assert result.statistic == w
        near(result.pvalue, p, 1e-12)
    if n <= 14:
        w2, p2 = brute_force_wilcoxon(d)
        assert w2 == w
        near(p2, p, 1e-12)
    return {"n": n, "w": w, "p": p}


def equivalence(d, margin):
    above = stats.ttest_1samp(d, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(d, margin, alternative="less").pvalue
    return max(above, below)


def paired_case(name, x, y, margins=(0.5, 1.0, 5.0), decimals=None):
    """decimals: what the differences are rounded to before SciPy sees them, so that differences
    which only rounding tells apart are ties for it too."""
    d = np.subtract(x, y)
    if decimals is not None:
        d = np.round(d, decimals)
    test = stats.ttest_1samp(d, 0)
    if decimals is None:
        both = stats.ttest_rel(x, y)
        near(both.statistic, test.statistic, 1e-12)
        near(both.pvalue, test.pvalue, 1e-12)
    near(float(mp_two_sided(test.statistic, len(d) - 1)), test.pvalue, 1e-9)
    exact = [Fraction(v) for v in d]
    mean = sum(exact) / len(d)
    variance = sum((v - mean) ** 2 for v in exact) / (len(d) - 1)
    near(float(mean * mean * len(d) / variance) ** 0.5, abs(test.statistic), 1e-10)
    interval = test.confidence_interval(0.95)
    ci95 = quantile(len(d) - 1) * stats.sem(d)
    near(ci95, (interval.high - interval.low) / 2, 1e-8)
    return {
        "name": name, "x": list(x), "y": list(y), "difference": np.mean(d),
        "ci95": ci95, "t": test.statistic, "df": test.df,
        "p": test.pvalue, "dz": np.mean(d) / np.std(d, ddof=1), "wilcoxon": wilcoxon(d),
        "equivalence": [{"margin": m, "p": equivalence(d, m)} for m in margins],
    }


def paired_cases():
    def normal(mean, std, n):
        return [float(v) for v in random.normal(mean, std, n)]

    cases = [
        paired_case("textbook", [125, 115, 130, 140, 140, 115, 140, 125, 140, 135],
                    [110, 122, 125, 120, 140, 124, 123, 137, 135, 145], (1, 10, 20)),
        paired_case("five seeds, far apart", accuracies(0.98, 0.01, 5), accuracies(0.43, 0.12, 5),
                    (1, 50, 70), decimals=9),
        paired_case("five seeds, close", accuracies(0.95, 0.01, 5), accuracies(0.95, 0.01, 5),
                    decimals=9),
        paired_case("perfect against nearly", [100.0] * 5, [99.9, 100.0, 99.8, 99.9, 100.0],
                    (0.05, 0.1, 0.5), decimals=9),
        paired_case("ten seeds", accuracies(0.7, 0.05, 10), accuracies(0.66, 0.05, 10), decimals=9),
        paired_case("two seeds", [3.5, 4.25], [1.5, 3.0]),
        paired_case("two seeds, no mean difference", [1.0, 2.0], [2.0, 1.0], (0.5, 2.0)),
        paired_case("three seeds", [91.4, 90.9, 91.9], [83.0, 82.3, 83.8], (8, 9, 10)),
        paired_case("all ties", [2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0, 5.0, 8.0]),
        paired_case("ties and zeros", [5.0, 7.0, 3.0, 8.0, 2.0, 9.0, 4.0, 6.0, 1.0, 5.5],
                    [5.0, 5.0, 4.0, 6.0, 2.0, 6.0, 5.0, 5.0, 3.0, 4.5]),
        paired_case("50 pairs, no ties", normal(0.3, 1, 50), normal(0, 1, 50)),
        paired_case("50 pairs, ties", [float(v) for v in random.integers(0, 9, 50)],
                    [float(v) for v in random.integers(0, 7, 50) - 0.5]),
        paired_case("51 pairs, no ties", normal(0.3, 1, 51), normal(0, 1, 51)),
        paired_case("200 pairs", normal(0.2, 1, 200), normal(0, 1, 200), (0.1, 0.5)),
        paired_case("200 pairs, ties and zeros", accuracies(0.99, 0.004, 200),
                    accuracies(0.989, 0.004, 200), (0.05, 0.2), decimals=9),
        paired_case("200 pairs, strong", normal(10, 1, 200), normal(0, 1, 200), (9, 11)),
    ]
    offset = 1e8
    x = [offset + k / 1024 for k in (5, 9, 2, 14, 7, 11)]
    y = [offset + k / 1024 for k in (3, 8, 4, 9, 1, 8)]
    cases.append(paired_case("huge offset", x, y, (1e-3, 1e-2)))
    return cases


# --- Independent samples ---


def welch_case(name, x, y):
    figures = lambda s: (np.mean(s), np.std(s, ddof=1), len(s))
    case = welch_figures(name, figures(x), figures(y))
    result = stats.ttest_ind(x, y, equal_var=False)
    near(result.statistic, case["t"], 1e-9)
    near(result.pvalue, case["p"], 1e-9)
    return case


def welch_figures(name, a, b):
    """a, b: mean, std, n."""
    result = stats.ttest_ind_from_stats(*a, *b, equal_var=False)
    va, vb = a[1] ** 2 / a[2], b[1] ** 2 / b[2]
    df = (va + vb) ** 2 / (va**2 / (a[2] - 1) + vb**2 / (b[2] - 1))
    near(float(mp_two_sided(result.statistic, df)), result.pvalue, 1e-9)
    figures = lambda s: {"mean": s[0], "std": s[1], "n": s[2]}
    return {"name": name, "x": figures(a), "y": figures(b), "difference": a[0] - b[0],
            "t": result.statistic, "df": df, "p": result.pvalue}


def welch_cases():
    return [
        welch_case("five and five", accuracies(0.9, 0.02, 5), accuracies(0.85, 0.05, 5)),
        welch_case("three and ten", accuracies(0.9, 0.02, 3), accuracies(0.95, 0.02, 10)),
        welch_case("200 and 2", [float(v) for v in random.normal(1, 3, 200)], [1.5, 2.5]),
        welch_figures("published figures", (99.2, 0.31, 5), (43.45, 13.51, 5)),
        welch_figures("one without variance", (100.0, 0.0, 5), (99.61, 0.32, 3)),
        welch_figures("equal means", (50.0, 1.0, 5), (50.0, 2.0, 5)),
    ]


def holm(p):
    """From the definition, with whole numbers: max over j <= i of (m - j + 1) p_(j), at most 1."""
    exact = [Fraction(v) for v in p]
    order = sorted(range(len(p)), key=lambda i: exact[i])
    scaled = [(len(p) - k) * exact[i] for k, i in enumerate(order)]
    adjusted = [0.0] * len(p)
    for k, i in enumerate(order):
        adjusted[i] = float(min(Fraction(1), max(scaled[: k + 1])))
    return adjusted


def holm_cases():
    families = [[float(v) for v in random.uniform(0, 0.2, 9)], [0.02, 0.02, 0.5, 0.02],
                [float(v) for v in 10.0 ** random.uniform(-12, 0, 40)]]
    return [{"p": p, "adjusted": holm(p)} for p in families]


def samples():
    offset = [1e15 + k / 8 for k in (1, 5, 3, 8, 2, 9, 4)]
    return [
        describe_case("accuracies", accuracies(0.93, 0.03, 5)),
        describe_case("even count", accuracies(0.5, 0.1, 6)),
        describe_case("two", [1.0, 4.0]),
        describe_case("negative", [-3.5, 2.0, -1.0, 0.0]),
        describe_case("200", [float(v) for v in random.normal(5, 2, 200)]),
        describe_case("huge offset", offset, 1e15),
    ]


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


golden = plain({
    "student": [student_case(df, t) for df in (1, 2, 3, 4, 9, 19, 30, 199, 1000, 10**6)
                for t in (1e-8, 0.3, 1.0, 2.5, 9.2274, 60.35, -1.3623) if df < 10**3 or t < 60]
               + [student_case(df, 1e6) for df in (1, 2, 4, 9)],
    "quantiles": [{"n": df + 1, "quantile": quantile(df)}
                  for df in (1, 2, 3, 4, 9, 29, 199, 10**4, 10**6)],
    "describe": samples(),
    "paired": paired_cases(),
    "welch": welch_cases(),
    "holm": holm_cases(),
})
print("{")
for k, (key, cases) in enumerate(golden.items()):
    rows = ",\n".join("  " + json.dumps(case, allow_nan=False) for case in cases)
    print(f' "{key}": [\n{rows}\n ]' + ("," if k + 1 < len(golden) else ""))
print("}")
