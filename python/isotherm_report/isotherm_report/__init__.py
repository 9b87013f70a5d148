"""The report: one HTML page of result files, each plot beside what the papers report.

    python3 -m isotherm_report DIR --output report.html

results.py reads the files and tells what each one is; experiments/ has a module an experiment,
which makes sections of results; papers.json holds what the papers report; drawing.py and page.py
make plots and the page.
"""
