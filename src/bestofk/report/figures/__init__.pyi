from .kinds.multitest import text_graph as text_graph
from .output import paint as paint, save_figure as save_figure, svg as svg
from .picture import Picture as Picture
from .registry import (
    FIGURES as FIGURES,
    figure as figure,
    figure_kinds as figure_kinds,
    picture_of as picture_of,
)
