"""What `mutants.py` leaves alone: places that only tune how something is computed.

By file and function, the code as `ast.unparse` writes it ("*" for the whole function), and why
its choice is no part of the result: how it is computed, guards against rounding, and numbers that
stand in where a result is not used. Decided by reading the modules and, for guards and stand-ins,
after some of them had lived in earlier samples; never after the sample that is reported.
"""

from __future__ import annotations

# fmt: off
TUNING: dict[str, dict[str, dict[str, str]]] = {
    "tails.py": {
        "pvalue_of_t": {"1.0": "guard against rounding"},
        "t_sf": {"t.size > 64": "from where the closed form pays"},
        "_t5_sf": {
            "t > _CLOSED_FORM_END": "from where the other form has more digits",
            "t < -100000000.0": "from where the tail is 1 to all digits",
        },
    },
    "intervals.py": {
        "_solve": {"*": "start and Newton steps of a root search, judged by its residual"},
        "_bisect": {"*": "bracket of a root search"},
        "_wilson_high": {"np.minimum(high, 1.0)": "guard against rounding"},
        "_wilson_low": {"np.where(k == 0, 1.0, upper)": "stands in, its quotient is not used"},
    },
    "rearrange/draws.py": {
        "drawn_tails": {
            "largest = min(TABLE_SIZE, resamples // 4)": "size of a table of sums",
            "while choices ** (group + 1) <= largest and group < blocks:\n    group += 1":
                "blocks drawn with one number",
            "batch = max(SUMS_HELD // (len(starts) * choices ** group), 1)": "tables at a time",
            "kind = np.uint16 if size < 2 ** 16 else np.int64": "width of the random numbers",
        },
        "_tail_counts": {"at.size > 8": "from where sorting pays"},
    },
    "rearrange/grid.py": {
        "place": {
            "meet_work = choices ** ((blocks + 1) // 2) * queries": "cost of one exact method",
            "most = max(LATTICE_WORK // (choices * blocks * tables), 1)": "cost of another",
            "lattice_work = choices * blocks * int(positions.max(axis=0).sum()) // 128":
                "cost of another",
            "meet_work > MEET_WORK or lattice_work <= meet_work": "choice between exact methods",
            "meet_work <= MEET_WORK": "choice between methods",
            "steps = min(max(GRID_WORK // (choices * blocks), FEWEST_STEPS), MOST_STEPS)":
                "fineness of the grid",
        },
        "common_unit": {
            "smallest / 4": "what counts as no remainder",
            "4 * noise": "what counts as a fit",
        },
        "_rounded": {
            "gaps = np.diff(fractions, axis=0, append=fractions[:1] + 1.0)": "the cut is free",
            "widest = gaps.argmax(axis=0)[np.newaxis]": "the cut is free",
            "cut = np.take_along_axis(fractions + gaps / 2, widest, axis=0) % 1.0":
                "the cut is free",
        },
        "_exponent": {"*": "any power of 2 of about that size will do as a unit"},
    },
    "rearrange/signs.py": {
        "scaled_pairs": {
            "exponent = np.where(largest > 0, np.frexp(largest)[1] + 1, 0).astype(np.int64)":
                "any power of 2 of about that size will do as a unit",
        },
        "_flipped": {
            "effective > COUNTED_TOGETHER": "choice between methods",
            "chunk = max(AT_ONCE >> n // 2 + 1, 1)": "pairs at a time",
        },
        "_counted": {"n // 2": "where the halves meet"},
    },
    "rearrange/tails.py": {
        "sum_tails": {
            "hair = 1e-09 * (1 + placed.positions.shape[1])": "allowance for rounding",
            "least, most = (least - hair, most + hair)": "allowance for rounding",
        },
        "_meet": {"blocks // 2": "where the halves meet"},
        "_Halves.of": {"blocks * np.log2(choices) > 1000": "counts or shares, before overflow"},
        "_ways": {
            "choices == 2 and (not shares)": "a shorter way for two",
            "repeat == 1": "a multiplication saved",
        },
    },
    "pairwise/differences.py": {
        "loss_unit": {"1e-100 < largest < 1e+100": "from where squares may leave the range"},
        "blocks_of": {"*": "pairs at a time"},
    },
    "pairwise/bayesian/correlated_t.py": {
        "correlated_t": {"np.where(sure, 1.0, se)": "stands in, its quotient is not used"},
    },
    "pairwise/units/mcnemar.py": {
        "mcnemar": {"(0, 0, 1, 0)": "losses of 0 and 1 have one unit"},
        "_tango_interval": {"(1, 1)": "losses of 0 and 1 have one unit"},
        "_where_score_is": {"*": "bracket of a root search"},
        "_score": {"np.where(safe, variance, 1.0)": "stands in, its quotient is not used"},
    },
    "pairwise/all_pairs.py": {
        "all_pairs": {
            "step = max(1, min(_ROWS_AT_MOST, _PAIRS_AT_A_TIME // K))": "rows at a time",
        },
    },
    "pairwise/units/permutation.py": {
        "_least_shift": {
            "low = low - np.maximum(high - low, np.abs(d).max(axis=1)) - 2.0 ** (-20)":
                "bracket of a root search",
        },
    },
    "pairwise/units/wilcoxon.py": {
        "_at_most": {
            "untied = np.maximum(2 * (np.arange(n) - (n - m)[:, np.newaxis] + 1), 0)":
                "which rows may share a distribution that is kept",
        },
        "_null_cdf": {"np.minimum(np.cumsum(p), 1.0)": "guard against rounding"},
        "_normal_pvalues": {"np.where(nothing, 1.0, sd)": "stands in, its quotient is not used"},
        "_hodges_lehmann_interval": {"tail * (1 + 1e-12)": "allowance for rounding"},
    },
    "pairwise/splits/repeated_kfold_t.py": {
        "_averaged_t": {"np.where(sure, 1.0, se)": "stands in, its quotient is not used"},
        "_averaged_t_interval": {
            "np.where(sure, 1.0, se)": "stands in, its quotient is not used",
            "np.where(any_sure, 1.0, total)": "stands in, its quotient is not used",
        },
    },
    "pairwise/bayesian/signed_rank_bayes.py": {
        "_sorted_pairs": {
            "slack = 4.0 * np.sqrt(noise.max(axis=1)) + 1e-15 * width": "allowance for rounding",
        },
        "_winners": {
            "step = max(1, _CHUNK // (n + 1))": "draws at a time",
            "up_wins, down_wins = (gap > 1e-12, gap < -1e-12)": "allowance for rounding",
        },
    },
    "pairwise/units/walsh.py": {
        "nth_walsh_average": {"n <= _LISTED_UP_TO": "choice between methods"}
    },
    "multiple/learners_table.py": {
        "sum_of_squares": {
            "floor = deviations.shape[-2] * deviations.shape[-1] * _ROUNDING ** 2":
                "allowance for rounding",
        },
    },
    "multiple/sphericity.py": {
        "greenhouse_geisser": {"n >= K": "the smaller of two matrices of the same trace"},
        "epsilons": {"tiny = 1e-09 * K * n": "allowance for rounding"},
        "mauchly": {"roots[0] <= 1e-14 * roots[-1]": "allowance for rounding"},
        "_interaction": {"R / np.abs(R).max()": "the unit does not matter"},
    },
    "multiple/interval_pvalues.py": {
        "_paper_pairs": {
            "tails = tails_by_rule(two, 'paper', 'exact', 1, np.random.default_rng(0))":
                "the exact method draws nothing",
        },
    },
    "multiple/studentized_range.py": {
        "survival": {"q.size > _MANY_VALUES": "from where a series pays"},
        "quantile": {"k.size > _MANY_SIZES": "from where a series pays"},
        "_roots": {"*": "bracket and steps of a root search, judged by its residual"},
        "_quantiles_of_many_sizes": {
            "middle, half = ((x.max() + x.min()) / 2.0, max((x.max() - x.min()) / 2.0, 1e-09))":
                "range of a series",
        },
        "_step": {"*": "step of a quadrature"},
        "_known_scale": {
            "half = math.ceil(_HALF_WIDTH / step)": "range of a quadrature",
            "z = u[..., None] / 2.0 + np.arange(-half, half + 1) * step": "nodes of a quadrature",
        },
        "_scale_nodes": {
            "cut = 46.0": "range of a quadrature",
            "left = math.sqrt(cut / df) + cut / df": "range of a quadrature",
            "rise = cut + 2.0 * math.log(k_max)": "range of a quadrature",
            "right = min(math.sqrt(rise / df), 0.5 * math.log(4.0 * rise / df + 4.0))":
                "range of a quadrature",
            "step = min(0.12, 0.55 / math.sqrt(2.0 * df))": "step of a quadrature",
            "offsets = np.arange(-math.ceil(left / step), math.ceil(right / step) + 1) * step":
                "nodes of a quadrature",
            "peak = -0.5 * np.log1p(0.5 * q * q / df)": "centre of a quadrature",
            "half < 50.0": "choice between two forms of one constant",
        },
        "_direct": {
            "scales = 1 if math.isinf(df) else _scale_nodes(q[todo[:1]], k_max, df)[0].shape[1]":
                "values at a time",
            "np.minimum(out, 1.0)": "guard against rounding",
            "rows = max(1, int(_CHUNK * step / (2.0 * _HALF_WIDTH * scales)))": "values at a time",
        },
        "_through_interpolant": {
            "x.size < _MANY_VALUES": "from where a series pays",
            "middle, half = ((highest + lowest) / 2.0, max((highest - lowest) / 2.0, 1e-09))":
                "range of a series",
            "(31, 63, 127, 255, 511)": "lengths of the series that are tried",
            "np.abs(series[-degree // 8:]).max() < _NOISE": "when a series is long enough",
        },
    },
}
# fmt: on
