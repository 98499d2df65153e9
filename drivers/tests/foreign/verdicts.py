#!/usr/bin/python3
"""What `lockbench check` found in the folder that is the argument: of each cell LOCK=VERDICT, then "hit" if a fault met a holder and
"again" if it was granted after that and is known how long that took, and the reason."""
import json
import sys

for cell in json.load(open(sys.argv[1] + "/check.json"))["cells"]:
    print(cell["lock"] + "=" + cell["verdict"], "hit" if cell.get("faults_hit") else "",
          "again" if cell.get("recovered") and cell["recovery_ns"]["count"] > 0 else "", cell.get("why"))
