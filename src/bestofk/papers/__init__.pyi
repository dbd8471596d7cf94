from . import decide as decide, lab as lab, stats as stats
