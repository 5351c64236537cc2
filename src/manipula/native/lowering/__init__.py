"""From a graph as it was traced to the one that is compiled.

=====================  ==================================================================================================
``passes``             products fused into sums, what nothing needs dropped, costs, loops that may take long
``ahead``                what the turns of a short loop compute from their number alone
``schedule``           the order in which operations are computed
=====================  ==================================================================================================
"""
