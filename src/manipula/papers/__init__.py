"""Published papers run again by name: what they print beside what is computed here, their misprints with a proof, one page each.

=================  ===============================================================================
``base``           what a reproduced paper is: rows, errata, sections
``printed``        what the papers print, as data
``typeset``        formulas as papers write them
``derived``        formulas derived here, identities on random states
``charts``         charts of a paper
``page``           one HTML file per paper
``run``            the papers by name, and running one
``abdelsatar/``    Abdelsatar: a text table in, torques in symbols out
``arora/``         Arora: five links by 4×4 matrices
``jarzebowska/``   Jarzębowska, Augustynek & Urbaś: a programmed ellipse with friction
``khang/``         Khang & Trung: a SCARA by Lagrange's equations
``zlajpah/``       Žlajpah: planar arms with any number of joints
=================  ===============================================================================
"""
