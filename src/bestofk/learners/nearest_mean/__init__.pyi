from .nearest_mean import NearestMean as NearestMean
