"""XML, as far as descriptions of robots need it.

==============  =====================================================================================
``reader``      a tree with line numbers, built by expat under budgets
``writer``      indented text, numbers with all their digits
``first_tag``   what an .xml file holds
``words``       rotor, gear, friction laws, drives: what neither URDF nor MJCF has words for
``unread``      what is no part of a format: slips refused, the rest counted
``names``       names that a writer invents, and what it cannot write
==============  =====================================================================================
"""
