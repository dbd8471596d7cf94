from .output import paint as paint, plot as plot, save as save, svg as svg
from .picture import Picture as Picture
from .registry import FIGURES as FIGURES, draw as draw, figure_kinds as figure_kinds
