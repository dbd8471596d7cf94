"""The ranks that the data allow for each learner, as bars."""

from __future__ import annotations

from typing import Any

from bestofk._base.formatting import counted
from bestofk.report.figures.axes import x_axis
from bestofk.report.figures.picture import Picture, Scale, Sheet
from bestofk.report.figures.style import ANY_PAPER, SMALL, Paper, name_size

_HALF_BAR = 2.6


def layout_rank_intervals(value: Any, *, paper: Paper = ANY_PAPER) -> Picture:
    """Draw a bar from the best to the worst rank of each learner, the best one on top.

    Parameters
    ----------
    value : Decision, Study or BattleDecision
    paper : Paper, optional

    References
    ----------
    M. Mogstad, J. P. Romano, A. M. Shaikh and D. Wilhelm (2024). Inference for ranks with
    applications to mobility across neighbourhoods and academic achievement across countries.
    Review of Economic Studies 91, 476-518. doi:10.1093/restud/rdad006
    """
    decision = getattr(value, "decision", value)
    ranks = decision.ranks
    names, low, high = ranks.values()
    K = len(names)
    size = name_size(K)
    pitch = 20.0 if K <= 20 else max(11.0, 600.0 / K)
    sheet = Sheet(paper)
    labels = sheet.labels(list(names), paper.share(0.45, 280.0), size)
    texts = [str(a) if a == b else f"{a}-{b}" for a, b in zip(low, high, strict=True)]
    start = 10 + sheet.widest(labels, size) + 12
    text_width = sheet.widest(texts, SMALL) + 12
    width = paper.rest(start + text_width + 8, 330.0)
    scale = Scale(low=0.5, high=K + 0.5, start=start, end=start + width)
    top = 8.0
    bottom = top + K * pitch + 2
    end = x_axis(sheet, scale, top=top, bottom=bottom, title="rank", whole=True)
    for k, label in enumerate(labels):
        row = top + (k + 0.5) * pitch
        left, right = scale(float(low[k]) - 0.3), scale(float(high[k]) + 0.3)
        sheet.write(start - 12, row, label, size=size, anchor="end")
        sheet.box(left, row - _HALF_BAR, right, row + _HALF_BAR, fill="blue")
        sheet.dot(scale(k + 1.0), row, 2.4, fill="paper", colour="blue", width=1.1)
        sheet.write(scale.end + 8, row, texts[k], size=SMALL)
    return sheet.finish(
        scale.end + text_width + 8,
        end + 6,
        note="The best on top; each circle is the rank in the data. All bars hold together with "
        f"{100 * (1 - decision.alpha):g} % confidence if the assumptions of {decision.test} hold.",
        alt=f"Ranks that the data allow for {counted(K, decision.noun)}.",
        x_scale=scale,
    )
