import sys

from isotherm_report.command import main

sys.exit(main())
