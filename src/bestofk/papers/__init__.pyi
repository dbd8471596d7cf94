from . import decide as decide, lab as lab, stats as stats
from .error_estimates import ErrorEstimates as ErrorEstimates, estimate as estimate
