"""From a graph as it was traced to the one that is compiled.

=====================  ==================================================================================================
``passes``             products fused into sums, what nothing needs dropped, costs, loops that may take long
``schedule``           the order in which operations are computed
=====================  ==================================================================================================
"""
