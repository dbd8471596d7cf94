from .choosing import compare_evals as compare_evals
from .evals import Evals as Evals
from .item_scores import ItemScores as ItemScores
from .model_choice import ModelChoice as ModelChoice
from .noise import Noise as Noise
from .reading import example_evals as example_evals, read_evals as read_evals
