"""What a study looks like: one HTML file with the cloud of its runs and the arm of any of them, pictures, sensitivities.

===============  =====================================================================================
``page``         ``write_study_report(results, path)``
``tuning``       ``write_tuning_report(tuning, path)``: history, candidates, the trade-off front
``cloud``        which runs are drawn as points, and how the page shows one
``excerpt``      the rows that a page is made from, whatever the number of runs
``findings``     how runs ended, sensitivities, worst cases, distributions, in words and numbers
``pictures``     scatter, histogram, response surface, sensitivities and front as figures
===============  =====================================================================================
"""
