# SPDX-License-Identifier: Apache-2.0
"""podman with configuration, storage and state of its own, in the caller's private namespaces."""
import subprocess
from pathlib import Path

# runc and cgroupfs need no systemd; a limit above the caller's own would be refused.
CONFIGURATION = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}'
TIMEOUT = 300  # seconds; a guard, no measure


class Podman:
    def __init__(self, work, cgroup):
        self.work = Path(work)
        self.cgroup = cgroup
        # /run belongs to podman, netavark and `ip netns`; sysfs and proc must show these namespaces.
        for command in (["mount", "-t", "tmpfs", "tmpfs", "/run"], ["mount", "-t", "proc", "proc", "/proc"], ["ip", "link", "set", "lo", "up"]):
            subprocess.run(command, check=True)
        Path("/run/lock").mkdir()
        (self.work / "containers.conf").write_text(CONFIGURATION)
        (self.work / "policy.json").write_text(POLICY)

    def command(self, *arguments):
        return ["podman", "--root", self.work / "storage", "--runroot", "/run/topoguard", "--tmpdir", "/run/topoguard-tmp",
                "--network-config-dir", self.work / "networks", "--storage-driver", "overlay", *arguments]

    def start(self, *arguments, **options):
        # libpod refuses to start without a policy file, which a bare podman does not bring.
        env = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.work),
               "CONTAINERS_CONF": str(self.work / "containers.conf")}
        return subprocess.Popen([str(word) for word in self.command(*arguments)], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", **options)

    def __call__(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=TIMEOUT)
        if process.returncode != 0:
            raise RuntimeError(f"podman {' '.join(map(str, arguments))}: status {process.returncode}\n{out[-2000:]}{err[-2000:]}")
        return out

    def run_arguments(self, name, network, volumes, env, command):
        arguments = ["run", "--rm", "--name", name, "--network", network, "--cgroup-parent", f"/{self.cgroup}"]
        for outside, inside in volumes.items():
            arguments += ["--volume", f"{outside}:{inside}"]
        for variable, value in env.items():
            arguments += ["--env", f"{variable}={value}"]
        return [*arguments, "topoguard-test", *command]
