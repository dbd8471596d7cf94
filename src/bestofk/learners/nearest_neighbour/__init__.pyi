from .nearest_neighbour import NearestNeighbour as NearestNeighbour
