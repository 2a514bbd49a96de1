#!/usr/bin/env python3
"""pipeline.py PACKAGE MODULE DOMAIN: the documented pipeline of Harombe's code execution with the imports changed, and nothing else: install, write
CSV, process, read results, list, destroy. $SBXRUN is the real program; what PACKAGE comes from is the operator's affair (t3281 has a registry)."""
import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "spec", "clients", "python"))
from sbxrun.compat.harombe import (  # noqa: E402
    CodeExecutionTools, DockerManager, HITLGate, RiskClassifier, SandboxManager, get_sandbox_hitl_rules)

PACKAGE, MODULE, DOMAIN = sys.argv[1:]
ASKED = []


async def person(operation, risk, timeout):
    ASKED.append((operation.tool_name, risk.value, timeout))
    return True


async def main():
    docker_manager = DockerManager()
    await docker_manager.start()
    sandbox_manager = SandboxManager(docker_manager=docker_manager, runtime="runsc", max_memory_mb=1024)
    await sandbox_manager.start()
    tools = CodeExecutionTools(sandbox_manager, HITLGate(RiskClassifier(get_sandbox_hitl_rules()), ask=person))
    try:
        result = await tools.code_execute(
            language="python", code="print('Environment ready')", network_enabled=True, allowed_domains=[DOMAIN])
        assert (result["success"], result["stdout"]) == (True, "Environment ready\n"), result
        sandbox_id = result["sandbox_id"]
        result = await tools.code_install_package(sandbox_id=sandbox_id, package=PACKAGE, registry="pypi")
        assert result["success"] and (result["package"], result["registry"]) == (PACKAGE, "pypi"), result
        result = await tools.code_write_file(
            sandbox_id=sandbox_id, file_path="data/sales.csv", content="date,product,amount\n2024-01-01,Widget,100\n2024-01-02,Gadget,150\n")
        assert result["success"], result
        result = await tools.code_execute(
            language="python", sandbox_id=sandbox_id, timeout=60,
            code="import csv, %s\n"
            "rows = list(csv.DictReader(open('/workspace/data/sales.csv')))\n"
            "open('/workspace/results.txt', 'w').write(f\"Total Sales: ${sum(int(r['amount']) for r in rows)}\\n\")\n" % MODULE)
        assert (result["success"], result["exit_code"], result["error"]) == (True, 0, None), result
        result = await tools.code_read_file(sandbox_id=sandbox_id, file_path="results.txt")
        assert result["content"] == "Total Sales: $250\n", result
        result = await tools.code_list_files(sandbox_id=sandbox_id, path=".")
        assert [f for f in result["files"] if not f.startswith(".")] == ["data", "results.txt"], result
        result = await tools.code_destroy_sandbox(sandbox_id)
        assert result["success"], result
    finally:
        await sandbox_manager.stop()
        await docker_manager.stop()


asyncio.run(main())
assert [tool for tool, _, _ in ASKED][:3] == ["code_execute", "code_install_package", "code_write_file"], ASKED
assert ASKED[0][1:] == ("critical", 30) and ASKED[1][1:] == ("high", 60), ASKED
print("the pipeline ran")
