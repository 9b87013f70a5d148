"""The report: one HTML page of result files, each plot beside what the papers report.

    python3 -m isotherm_report DIR --output report.html

results.py reads the files and tells what each one is; experiments/ is lab/experiments, whose cards
make sections of results (cards.py finds them); papers.json holds what the papers report; drawing.py
and page.py make plots and the page.
"""
