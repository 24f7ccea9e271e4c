"""Where tokens are. Positions are data: plain tensors, made here or anywhere else.

(T) serves every row of a batch; (B,T) gives each row its own; a last dimension holds the axes of a
grid.
"""

from locant.positions.checks import check as check
from locant.positions.checks import in_transform as in_transform
from locant.positions.checks import visible as visible
from locant.positions.clock import timestamps as timestamps
from locant.positions.makers import Packed as Packed
from locant.positions.makers import consecutive as consecutive
from locant.positions.makers import from_mask as from_mask
from locant.positions.makers import grid as grid
from locant.positions.makers import packed as packed
from locant.positions.samplers import cape as cape
from locant.positions.samplers import randomized as randomized
from locant.positions.samplers import skips as skips
from locant.positions.spacing import Spacing as Spacing
from locant.positions.spacing import evenly_spaced as evenly_spaced
