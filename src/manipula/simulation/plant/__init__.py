"""The equations of a run, over any scalar."""
