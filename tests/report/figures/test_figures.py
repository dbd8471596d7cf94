"""Every figure for 2 to 60 learners: no overlaps, nothing off the sheet, reproducible."""

import io
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import bestofk as bk
from bestofk._base.errors import ArgumentError, UnknownNameError
from bestofk.report.figures import FIGURES, draw, figure_kinds, paint, plot, save, svg
from bestofk.report.figures.labels import LINE_HEIGHT, text_width
from bestofk.report.figures.style import DARK, LIGHT

SIZES = (2, 5, 20, 60)
KINDS = tuple(FIGURES)
WIDTHS = (200 / 72, 3.3, 7)
"""Widths in inches that figures must fit; 200 points are the minimum."""


def is_on_its_sheet(picture, overlaps, boxes):
    assert overlaps(picture.words) == []
    corners = boxes(picture.words)
    assert corners.min() >= -0.5
    assert corners[..., 0].max() <= picture.width + 0.5
    assert corners[..., 1].max() <= picture.height + 0.5
    for shape in picture.shapes:
        points = getattr(shape, "points", None) or ((shape.x, shape.y),)
        assert np.isfinite(points).all()
        if not getattr(shape, "smooth", False):  # control points may lie outside
            assert np.min(points) >= -0.5
            assert np.max([x for x, _ in points]) <= picture.width + 0.5
            assert np.max([y for _, y in points]) <= picture.height + 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "widths"), [(2, WIDTHS[1:]), (6, WIDTHS), (20, WIDTHS[:2])])
def test_every_figure_fits_a_column_and_a_page(examples, overlaps, boxes, kind, n, widths):
    """Names of 200 letters in several scripts fit on paper of exactly the width."""
    value = examples[n][kind]
    for width in widths:
        picture = draw(value, kind, width=width)
        assert picture.width == pytest.approx(72 * width)
        is_on_its_sheet(picture, overlaps, boxes)
        if kind not in ("graph", "steps"):
            assert min(word.size for word in picture.words) >= 6.5
        bare = draw(value, kind, width=width, note=False)
        assert bare.note == picture.note
        assert bare.note
        assert bare.height < picture.height
        assert {word.text for word in bare.words} <= {word.text for word in picture.words}


BASE = np.random.default_rng(1).uniform(0.2, 0.4, (6, 1)) + np.random.default_rng(2).normal(
    0, 0.02, (6, 20)
)
STRANGE_LOSSES = {
    "huge": BASE * 1e9,
    "tiny": BASE * 1e-9,
    "far from zero": 1e6 + BASE,
    "ties": np.round(BASE, 1),
    "one far off": np.where(np.arange(6)[:, None] == 5, BASE * 1e6, BASE),
    "identical learners": np.tile(BASE[:1], (6, 1)),
    "constant": np.full((6, 20), 0.25),
}


@pytest.mark.parametrize("name", STRANGE_LOSSES)
def test_strange_numbers_do_not_overlap(overlaps, boxes, name):
    values = STRANGE_LOSSES[name]
    scale = float(np.abs(values).max()) or 1.0
    drawn = 0
    for losses in (
        bk.Scores(values, dims=("learner", "dataset")), bk.Scores(values.reshape(6, 5, 4)),
    ):  # fmt: skip
        order = bk.compare_scores(losses, prefer="listed", margin=0.03 * scale).outcome
        for kind in figure_kinds(order):
            # On a page, the cells of the matrix show the most.
            width = 7 if kind == "matrix" else 3.3
            is_on_its_sheet(draw(order, kind, width=width), overlaps, boxes)
            drawn += 1
    assert drawn == 15


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_words_and_shapes_are_on_the_sheet(pictures, overlaps, boxes, kind, n):
    picture = pictures[n, kind]
    is_on_its_sheet(picture, overlaps, boxes)
    if kind not in ("graph", "steps"):
        assert min(word.size for word in picture.words) >= 6.5
    assert len(picture.alt) > 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [20])
def test_rendered_words_stay_within_their_boxes(pictures, kind, n):
    """The layout never underestimates the width of words."""
    picture = pictures[n, kind]
    sheet = Figure(figsize=(picture.width / 72, picture.height / 72), dpi=144)
    ax = paint(picture, sheet.add_axes((0, 0, 1, 1)))
    renderer = sheet.canvas.get_renderer() if hasattr(sheet.canvas, "get_renderer") else None
    if renderer is None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        renderer = FigureCanvasAgg(sheet).get_renderer()
    for text, word in zip(ax.texts, picture.words, strict=True):
        assert text.get_text() == word.text
        text.set_rotation(0)
        box = text.get_window_extent(renderer)
        width = text_width(word.text, word.size, bold=word.bold)
        assert box.width / 2 <= width * 1.02 + 0.5, word.text  # hinting rounds
        assert box.height / 2 <= word.size * LINE_HEIGHT * 1.06 + 0.5, word.text


@pytest.mark.parametrize("kind", KINDS)
def test_the_callers_style_stays(examples, kind):
    with mpl.rc_context({"font.size": 23, "text.usetex": False, "axes.grid": True}):
        before = dict(mpl.rcParams)
        ax = plot(examples[5][kind], kind, ax=Figure().add_subplot())
        assert dict(mpl.rcParams) == before
    assert {round(text.get_fontsize(), 6) for text in ax.texts}.isdisjoint({23.0})


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bytes_twice(examples, kind, tmp_path):
    value = examples[5][kind]
    assert draw(value, kind) == draw(value, kind)
    # One function draws all pictures, so two kinds are enough.
    for end in {"matrix": ("svg", "png", "pdf"), "graph": ("svg",)}.get(kind, ()):
        files = []
        for turn in range(2):
            path = save(draw(value, kind), tmp_path / f"{turn}.{end}")
            files.append(path.read_bytes())
        assert files[0] == files[1], end
        assert len(files[0]) > 500


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5])
def test_plain_svg_is_well_formed_and_names_are_text(pictures, kind, n):
    text = svg(pictures[n, kind])
    root = ElementTree.fromstring(text)
    assert "<script" not in text
    written = [part.text for part in root.iter("{http://www.w3.org/2000/svg}text")]
    assert written == [word.text for word in pictures[n, kind].words]


@pytest.mark.parametrize("width", [1, 340, "wide", float("nan")])
def test_paper_that_fits_no_figure_is_refused(width):
    with pytest.raises(ArgumentError, match=r"width must be in inches, from 2\.8 to 56, such as 3"):
        draw(bk.Scores([[0.1, 0.2], [0.3, 0.2]]), width=width)


def test_what_cannot_be_drawn_is_refused_with_what_can():
    losses = bk.Scores([[0.1, 0.2, 0.2, 0.3], [0.3, 0.2, 0.4, 0.3]])
    decision = bk.compare_scores(losses).outcome
    for call, message in (
        (lambda: draw(3), "there is no figure of a int"),
        (lambda: draw(losses, "forest"), "'forest' needs a recommended .*; draw 'losses'"),
        (lambda: bk.Result(decision).plot("graph"), "'graph' needs a preference; draw 'forest'"),
        (
            lambda: bk.Result(decision).plot("heatmap"),
            "needs losses on several data sets; draw 'forest'",
        ),
        (
            lambda: bk.Result(decision).plot("race"),
            "needs a comparison that stops early; draw 'forest'",
        ),
        (lambda: bk.Result(decision).plot("a.png"), r"is a file, .*; write plot\(path='a.png'\)"),
        (
            lambda: bk.Result(decision).plot(path="x.bmp"),
            r"must end in \.svg, \.png or \.pdf; got 'x.bmp'",
        ),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    with pytest.raises(UnknownNameError, match="did you mean 'graph'"):
        bk.Result(decision).plot("grap")
    with pytest.raises(AttributeError, match=r"write .* result.plot\(path='figure.pdf'\)"):
        bk.save_figure(decision, "a.png")


def test_a_new_figure_has_the_size_of_the_picture(examples):
    from matplotlib import pyplot

    order = examples[5]["graph"]
    ax = bk.Result(order).plot()
    picture = draw(order, "forest")
    assert ax.figure.get_size_inches() * 72 == pytest.approx([picture.width, picture.height])
    out = io.BytesIO()
    ax.figure.savefig(out, format="png")
    assert out.getvalue()[:4] == b"\x89PNG"
    pyplot.close(ax.figure)


@pytest.mark.parametrize(("kind", "axes"), [("losses", "x"), ("frontier", "xy")])
def test_data_coordinates_are_those_of_the_scales(pictures, kind, axes):
    """The data coordinates of the axes are those of the figure."""
    picture = pictures[5, kind]
    ax = paint(picture, Figure(figsize=(9, 3)).add_subplot())
    width, height = ax.figure.get_size_inches() * 72
    box = ax.get_position()
    scale = min(box.width * width / picture.width, box.height * height / picture.height)
    for scale_of, axis in ((picture.x_scale, 0), (picture.y_scale, 1)):
        if "xy"[axis] not in axes:
            continue
        for share in (0.0, 0.3, 1.0):
            value = scale_of.data(scale_of.start + share * (scale_of.end - scale_of.start))
            data = [1.0, 1.0]
            data[axis] = value
            where = ax.transData.transform(data)[axis] * 72 / ax.figure.dpi
            sizes = (picture.width, picture.height)
            inside = ((box.width * width, box.height * height)[axis] - scale * sizes[axis]) / 2
            at = scale_of(value) if axis == 0 else sizes[1] - scale_of(value)
            start = (box.x0 * width, box.y0 * height)[axis]
            assert where == pytest.approx(start + inside + scale * at, abs=0.05)


def test_dark_paper_gets_light_ink(pictures):
    picture = pictures[5, "graph"]
    light = paint(picture, Figure(facecolor="white").add_subplot())
    dark = paint(picture, Figure(facecolor="#111111").add_subplot())
    tones = [
        np.mean([np.mean(mpl.colors.to_rgb(text.get_color())) for text in ax.texts])
        for ax in (light, dark)
    ]
    assert tones[0] < 0.5 < tones[1]


def _luminance(colour):
    """Relative luminance, WCAG 2.1."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _contrast(palette, role, opacity=1.0):
    """Contrast with the paper, WCAG 2.1; an opacity mixes the colour with the paper."""
    front, back = (
        [int(palette[name][k : k + 2], 16) for k in (1, 3, 5)] for name in (role, "paper")
    )
    mixed = [round(opacity * a + (1 - opacity) * b) for a, b in zip(front, back, strict=True)]
    light = _luminance("#" + "".join(f"{part:02x}" for part in mixed)) + 0.05
    paper = _luminance(palette["paper"]) + 0.05
    return max(light, paper) / min(light, paper)


WITH_BASELINES = ("ranks",)
"""Figures whose rows have faint lines to stand on."""


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("kind", FIGURES)
def test_lines_and_notes_can_be_seen_on_light_and_dark_paper(pictures, kind, palette):
    guides = {"wash", "faint"} if kind in WITH_BASELINES else {"wash"}
    lines = [
        shape
        for shape in pictures[5, kind].shapes
        if shape.fill is None and shape.colour not in {*guides, "paper"}
    ]
    pale = [one for one in lines if _contrast(palette, one.colour, one.opacity) < 3.0]
    assert pale == []
    neutral = {"ink", "muted"} & {words.colour for words in pictures[5, kind].words}
    assert min(_contrast(palette, role) for role in neutral) >= 4.5
