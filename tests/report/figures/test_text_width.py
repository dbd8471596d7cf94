"""Widths of words, scales, ticks and positions that stay apart."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestofk.report.figures.axes import spread
from bestofk.report.figures.labels import text_width
from bestofk.report.figures.picture import Scale, around, round_ticks


def test_widths_are_those_of_the_font():
    """Compare with the advances in the font of matplotlib."""
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font, LoadFlags

    font = FT2Font(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    font.set_size(1000, 72)
    printed = "".join(map(chr, range(0x20, 0x7F)))
    letters = "ÀÉîõüßÆŒøłŽαβγδЖЩабвгдежзийשכןקרוב–—…←→−±×"
    for character in filter(lambda c: font.get_char_index(ord(c)), printed + letters):
        advance = (
            font.load_char(ord(character), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536
        )
        assert text_width(character, 1000) >= advance - 1.0, character
        if character in printed:
            assert text_width(character, 1000) <= advance + 1.0


@given(st.lists(st.floats(0, 100), min_size=1, max_size=9))
def test_positions_are_apart_and_in_order(targets):
    positions = spread(targets, gap=10, low=0, high=100)
    order = np.argsort(targets, kind="stable")
    assert (np.diff(np.array(positions)[order]) >= 10 - 1e-9).all()
    assert min(positions) >= -1e-9
    assert max(positions) <= 100 + 1e-9


@given(st.floats(-1e6, 1e6), st.floats(1e-4, 1e6))
def test_ticks_are_inside_and_few(low, width):
    ticks = round_ticks(low, low + width, 6)
    assert len(ticks) <= 6
    slack = 1e-6 * max(width, 1e-3 * abs(low))
    assert all(low - slack <= tick <= low + width + slack for tick in ticks)


@pytest.mark.parametrize("kind", ["linear", "log"])
def test_a_scale_goes_there_and_back(kind):
    scale = Scale(low=0.001, high=0.5, start=40, end=340, kind=kind)
    for value in (0.001, 0.02, 0.5):
        assert scale.data(scale(value)) == pytest.approx(value)
    assert scale(7.0) == 340
    assert around(0.0, 0.0) == (-0.5, 0.5)
