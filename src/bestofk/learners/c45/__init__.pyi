from .c45 import C45 as C45, Settings as Settings, Tree as Tree
