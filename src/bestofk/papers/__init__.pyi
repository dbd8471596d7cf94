from . import lab as lab
