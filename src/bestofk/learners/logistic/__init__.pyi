from .logistic import Logistic as Logistic
