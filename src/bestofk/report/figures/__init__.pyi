from .kinds.rate_curves import Rates as Rates
from .kinds.text_graph import text_graph as text_graph
from .paint import paint as paint, save_figure as save_figure
from .picture import Picture as Picture
from .registry import (
    FIGURES as FIGURES,
    figure as figure,
    figure_kinds as figure_kinds,
    picture_of as picture_of,
)
from .svg import svg as svg
