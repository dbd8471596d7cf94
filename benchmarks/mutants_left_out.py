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
    "adjust/all_pairs.py": {
        "bergmann_hommel": {
            "step = max(1, _NUMBERS_AT_A_TIME // (2 ** K * m))": "rows at a time",
        },
        "_fewest_learners": {
            "small = min(most, comb(12, 2) - 1)": "from where another search is quicker",
            "range(2, 13)": "sizes that are tried",
            "J = 12": "from where another search is quicker",
            "(j - 1) * int(best.max()) >= 2 * int(s[0])": "sizes that are tried",
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
    "rearrange/contour.py": {
        "Contour.next_to": {
            "length = np.ceil(length / sums.unit) * sums.unit": "where there are units, they are 1",
            "end = CHECKED * c": "range of a quadrature",
            "2.0 * pi / length": "step of a quadrature",
        },
        "Contour.serves": {"*": "which sums share a quadrature"},
        "Contour.integrated": {
            "last = int(self.end / self.step * (1.0 + 1e-12))": "guard against rounding",
            "faded = float(np.abs(terms[-(len(u) // 4) - 1:]).max()) * NODES":
                "when a quadrature is long enough",
            "faded < ENOUGH / 10 * abs(total) and done >= checked or tired":
                "when a quadrature is long enough",
            "tired = self.work > MOST_WORK": "when a quadrature is long enough",
            "missed > ENOUGH": "when a second estimate pays",
            "missed < 3.0 * ENOUGH or tired": "when a quadrature is long enough",
            "checked = 2 * done": "when to look again",
            "abs(last * self.step - self.end) < 1e-06 * self.step": "allowance for rounding",
            "10 * TOLERANCE": "allowance for rounding",
        },
        "Contour._nodes": {
            "max(NODES, done // 2)": "nodes at a time",
            "self.work += len(u) * max(int((self.reach * u[-1] > SMALL_TURN).sum()), NODES)":
                "cost",
        },
        "Contour._log_transform": {
            "slow = int(np.searchsorted(self.reach, SMALL_TURN / max(float(u[-1]), 1e-300)))":
                "choice between two forms of one sum",
            "turn = float(self.reach[slow - 1] * u[-1]) / pi": "length of a series",
        },
        "Contour._directly": {"size = max(NUMBERS_AT_ONCE // len(u), 1)": "draws at a time"},
        "Contour._remainder": {"*": "probes for what a quadrature missed"},
        "Contour._beyond": {"*": "probes for what a quadrature missed"},
        "_beyond_the_saddle": {"*": "any line near the saddle will do"},
        "_length": {"*": "step of a quadrature"},
        "_turned": {"len(costs) > costs.shape[1]": "choice between two loops"},
        "_evenly": {"*": "places of probes"},
        "_orders": {"*": "length of a series"},
    },
    "rearrange/inversion.py": {
        "Inversion.at_most": {"bottom < UNDERFLOW": "from where the tail is no float"},
        "Inversion._saddle": {"*": "root search, of which a rough root will do"},
    },
    "rearrange/counting.py": {
        "tail_by_enumeration": {
            "blocks * log(choices) > 743.0": "from where the other method is taken",
            "for k in range(1, MOST_ARRANGEMENTS.bit_length()):\n"
            "    if comb(int((k * cheapest <= deficit).sum()), k) > MOST_ARRANGEMENTS:\n"
            "        return None": "from where the other method is taken",
            "sums, shares, work = (np.zeros(1), np.ones(1), 0)": "cost",
            "size > MOST_ARRANGEMENTS or work > MOST_WORK": "from where the other method is taken",
        },
        "tails_by_distinct_sums": {
            "np.log2(counts + 1.0).sum() > np.log2(MOST_TOGETHER)":
                "from where the other method is taken",
            "lengths = [1.0, 1.0]": "where the halves meet",
            "half = int(lengths[1] < lengths[0])": "where the halves meet",
            "lengths[half] *= counts[i] + 1.0": "where the halves meet",
            "max(lengths) > MOST_SUMS": "from where the other method is taken",
        },
        "_fair_coins": {"count <= 1000": "choice between two forms"},
    },
    "rearrange/grid.py": {
        "step_grid": {
            "meet_work = choices ** ((blocks + 1) // 2) * queries": "cost of one exact method",
            "most = LATTICE_WORK // (choices * blocks * tables)": "cost of another",
            "float(reach.sum()) / max(most, 1)": "the finest unit that is of use",
            "lattice_work = choices * blocks * length // 128": "cost of another",
            "length <= most and (meet_work > MEET_WORK or lattice_work <= meet_work)":
                "choice between exact methods",
            "meet_work > MEET_WORK": "choice between methods",
            "meet_work <= MEET_WORK": "choice between methods",
        },
        "common_unit": {
            "smallest / 4": "what counts as no remainder",
            "4 * noise": "what counts as a fit",
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
        "_inverted": {
            "np.argsort(np.minimum(at, float(reach.sum()) - at), kind='stable')":
                "order in which the sums are taken",
            "at[i] >= middle": "which of the two tails is computed, the other being the rest",
        },
        "_Costs.at_most": {
            "deficit < self.uncounted": "what took too long before is not tried again",
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
        "_least_shift": {"n <= COUNTED_FOR_ENDS": "choice between methods"},
        "_stepwise": {
            "low = low - np.maximum(high - low, np.abs(d).max(axis=1)) - 2.0 ** (-20)":
                "bracket of a root search",
        },
    },
    "pairwise/units/shift_interval.py": {
        "upper_tail_by_saddlepoint": {
            "np.where(flat, 1.0, np.sqrt(np.square(d).sum(axis=1)))":
                "stands in, its quotient is not used",
            "largest / unit * (1 - 1e-09)": "guard against rounding",
            "slope = (np.square(x) * (1.0 - np.square(bent))).sum(axis=1)":
                "steps of a root search",
            "step = np.where(slope > 0, missing / np.where(slope > 0, slope, 1.0), 0.0)":
                "steps of a root search",
            "np.minimum(step, 4.0 * t + 1.0)": "steps of a root search",
            "np.abs(step) <= 1e-09 * (1.0 + t)": "end of a root search",
            "np.minimum(y, 300.0)": "guard against overflow",
            "np.maximum(2 * (t * goal - K), 0.0)": "guard against rounding",
            "near = (w < 0.001) | (u <= 0)": "choice between two forms",
            "w_, u_ = (np.where(near, 1.0, w), np.where(near, 1.0, u))":
                "stands in, its quotient is not used",
            "np.abs(more) < 3 * plain": "choice between two approximations",
        },
        "least_shift": {
            "max(n - z * z, 0.25)": "guard",
            "n >= NORMAL_FROM": "choice between methods",
            "spread = np.maximum(np.ptp(d, axis=1), np.abs(d).max(axis=1))":
                "bracket of a root search",
            "low, high = (mean - 2.0 * np.abs(reach), mean + 0.5 * np.abs(reach))":
                "bracket of a root search",
            "outside = (upper_tail_by_saddlepoint(d - low[:, None]) > alpha) | "
            "(upper_tail_by_saddlepoint(d - high[:, None]) <= alpha)": "bracket of a root search",
            "low = np.where(outside, d.min(axis=1) - spread, low)": "bracket of a root search",
        },
    },
    "pairwise/units/signed_rank_tails.py": {
        "exact_tails": {
            "untied = np.maximum(2 * (np.arange(n) - (n - m)[:, np.newaxis] + 1), 0)":
                "which rows may share a distribution that is kept",
        },
        "_counted": {
            "mirrored = 2 * at > total": "which of the tails is counted, the other being the rest",
            "most = max(int(below.max()), 0)": "length of a table",
        },
        "untied_cdf": {"np.minimum(np.cumsum(p), 1.0)": "guard against rounding"},
        "close_tails": {
            "np.prod(np.sort(counts)[:-1] + 1.0) <= _MAX_LISTED_SUMS": "choice between methods",
        },
        "_of_few_sizes": {
            "2 * at > total": "which of the two tails is added up, the other being the rest",
        },
        "saddlepoint_tails": {
            "np.where(nothing, 1.0, sd)": "stands in, its quotient is not used",
            "x > _NEAR_THE_MIDDLE": "choice between two forms",
        },
        "_beyond": {
            "slope = (np.square(half) * 4 * e / np.square(1 + e)).sum(axis=1)":
                "steps of a root search",
            "np.abs(move) <= 1e-12 * s": "end of a root search",
        },
        "normal_tails": {"np.where(nothing, 1.0, sd)": "stands in, its quotient is not used"},
        "largest_within": {
            "tail * (1 + 1e-12)": "allowance for rounding",
            "sd = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)": "bracket of a root search",
            "guess = int(total / 2 + sd * float(normal_quantile(tail)))":
                "bracket of a root search",
            "low, high = (max(guess - int(sd), -1), min(guess + int(sd), total))":
                "bracket of a root search",
        },
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
        "nth_walsh_average": {"n <= _MAX_LISTED": "choice between methods"}
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
        "survival": {"q.size > _INTERPOLATE_ABOVE_VALUES": "from where a series pays"},
        "quantile": {"k.size > _INTERPOLATE_ABOVE_SIZES": "from where a series pays"},
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
            "x.size < _INTERPOLATE_ABOVE_VALUES": "from where a series pays",
            "middle, half = ((highest + lowest) / 2.0, max((highest - lowest) / 2.0, 1e-09))":
                "range of a series",
            "(31, 63, 127, 255, 511)": "lengths of the series that are tried",
            "np.abs(series[-degree // 8:]).max() < _NOISE": "when a series is long enough",
        },
    },
}
# fmt: on
