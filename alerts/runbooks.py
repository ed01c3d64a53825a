"""One page per alert, for the person it wakes: meaning, impact, diagnosis, mitigation. Words only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Runbook:
    """What a person needs who is woken by the alert. Each part is Markdown."""

    meaning: str
    impact: str
    diagnosis: tuple[str, ...]
    """Steps, in order."""
    mitigation: tuple[str, ...]


RUNBOOKS: Final[Mapping[str, Runbook]] = {
    "TrimtabTenantStarved": Runbook(
        meaning=(
            "Work that the tenant is entitled to run waits longer than its tier allows. The hint names the waiting of "
            "most of it: *starved* (relatives borrow what it lacks), *short-of-capacity* (nobody borrows), *blocked* "
            "(the GPUs stand on too many nodes), *broken*, *refused* or *ineligible*."
        ),
        impact="Each minute of it spends the tenant's error budget. Nothing is lost yet.",
        diagnosis=(
            "`trimtab explain TENANT`: who holds what it needs, and what would help.",
            "`trimtab waits`: the oldest waits with holder and cure.",
            "Compare its `trimtab_tenant_idle_held_gpus` with its shortfall: it may hold GPUs that compute nothing.",
        ),
        mitigation=(
            "*starved*: in Enforce mode the loop moves floating GPUs; in Recommend `trimtab status` has the command.",
            "*short-of-capacity*: no knob helps. Lower the burst, add GPUs, or tell the tenant.",
            "*blocked*: free whole nodes; more quota would not start the gang.",
        ),
    ),
    "TrimtabObjectiveBurning": Runbook(
        meaning=(
            "The tenant's objective for waiting spends its error budget faster than it lasts, over a long window and "
            "over a short one, so it still goes on. It is silent when more than 5 % of the long window was not seen, "
            "and when the tenant wanted service for less than a twelfth of it."
        ),
        impact=(
            "`fast` and `slow` use up the budget of the whole window within days; `day` and `days` use it up before "
            "the window ends."
        ),
        diagnosis=(
            "Compare `trimtab:tenant_attainment_ratio:1h`, `:6h` and `:1d`: one incident, or a trend?",
            "`trimtab explain TENANT` for the cause. No scheduling knob is moved for storage, network or sick GPUs.",
            "Look at the changes of the same time: `trimtab status` shows those in force and their verdicts.",
        ),
        mitigation=(
            "As for TrimtabTenantStarved, while the cause is scheduling.",
            "A tenant that burns every week has the wrong floating part or burst: change its Tenant document.",
        ),
    ),
    "TrimtabQueueBroken": Runbook(
        meaning=(
            "Work in the queue would fit into free entitlement and onto free nodes, and nothing was admitted for a "
            "while. Quota is not the reason."
        ),
        impact="Nothing new starts from this queue, perhaps from none.",
        diagnosis=(
            "Does the queue's engine run, and do its webhooks answer? Look at its pods and their logs.",
            "Are the ClusterQueue and LocalQueue active, without a stop policy?",
            "Is a pod stuck in Terminating, holding the quota of work that has ended?",
            "`trimtab explain WORKLOAD` for the head of the queue.",
        ),
        mitigation=(
            "Restart the part that stands, or remove the finalizer of the stuck pod's owner.",
            "Do not raise quota: it changes nothing here, and the loop refuses to.",
        ),
    ),
    "TrimtabStorageSlow": Runbook(
        meaning=(
            "The volumes of the tenant take longer than its `storage-latency` objective allows, on average over a "
            "minute. The manager exports means only: above the limit the promised share of operations is missed almost "
            "surely, below it nothing is proven."
        ),
        impact=(
            "Its jobs compute less than they could. No scheduling knob cures that, so the loop moves none for this "
            "tenant and says that Ceph is the cause."
        ),
        diagnosis=(
            "`trimtab_storage_osd_commit_latency_seconds`: an OSD far above its peers has a slow disk.",
            "`trimtab_storage_slow_operations` names who waits: often the healthy primary of a slow replica.",
            "No OSD stands out: look at the network between OSDs, and at recovery: `trimtab_storage_disturbance > 0`.",
            "Who does most of the I/O? `trimtab_storage_write_operations_per_second` by tenant.",
        ),
        mitigation=(
            "`ceph osd out` the OSD with the slow disk, once the rest has room for its data.",
            "A noisy image can be held back: `rbd config image set POOL/IMAGE rbd_qos_write_iops_limit N`.",
        ),
    ),
    "TrimtabStorageStalled": Runbook(
        meaning=(
            "Volumes of the tenant did I/O until operations began to hang in Ceph, and have completed none since. "
            "There is no latency to see, since only what completes has one."
        ),
        impact="Its pods hang in uninterruptible reads and writes while they hold their GPUs.",
        diagnosis=(
            "`ceph health detail` and `ceph osd tree`: is an OSD down, or up and silent?",
            "The OSD that hangs reports nothing; its peers complain of slow operations.",
            "`ceph tell osd.N dump_ops_in_flight` on those peers names the OSD that they wait for.",
            "Are placement groups inactive, or is a pool full?",
        ),
        mitigation=(
            "Restart or mark down the OSD that hangs (`ceph osd down osd.N`): its peers go on without it.",
            "Do not evict the tenant's pods: they can not end before their I/O does.",
        ),
    ),
    "TrimtabFabricSuspect": Runbook(
        meaning=(
            "Links between NICs take longer than is usual for them, twice in a row, and this is what they have in "
            "common: a host that is slow with itself, a NIC with nearly all of its links slow, a switch that several "
            "NICs of several nodes agree on, or a link that neither end explains."
        ),
        impact="Gangs with a pod behind it wait for it at every step.",
        diagnosis=(
            "`trimtab probe list`: all slow links, and what is usual; `trimtab probe run NODE NODE`: once more.",
            "host: it is busy, or its processors are throttled. No network lies between a NIC and itself.",
            "nic: its cable, optics and port; `trimtab_rdma_port_trouble_events_per_second` of that port.",
            "switch: its queues and uplinks. link: the path between two switches.",
        ),
        mitigation=(
            "Drain the node behind a bad NIC; what is probed there afterwards disturbs nobody.",
            "A host that is busy with other work: lower `fullLoad`, or give the probes a core.",
        ),
    ),
    "TrimtabRdmaPortTrouble": Runbook(
        meaning=(
            "For most of ten minutes a port had more than twice as much of this trouble by packet as in nearly all "
            "looks before at a similar load. A heavy load alone does not make it fire."
        ),
        impact="What runs over the port is slower, or breaks: losses cost whole time-outs.",
        diagnosis=(
            "congestion, waiting: who else sends to the same receivers? Look at the switch's queues.",
            "loss: flow control (`trimtab_network_*_pause_*`), a bad path, a peer that died.",
            "cable, flap: errors of the physical layer; compare with the other end.",
            "misconfigured: notices of congestion are ignored, so congestion control is off at this sender.",
        ),
        mitigation=(
            "Drain the node of a bad cable or a port that flaps, and replace optics or cable.",
            "Switch congestion control on, the same on all ports of the rail.",
        ),
    ),
    "TrimtabRdmaPortSetting": Runbook(
        meaning=(
            "A setting of a port looks wrong for half an hour: MTU or traffic class unlike that of most ports of its "
            "node, no GID of RoCE v2, notices of congestion ignored, or packets dropped on the priority of its class "
            "without a single pause."
        ),
        impact="Nothing fails; RDMA over the port is slower than it could be, or loses packets under load.",
        diagnosis=(
            "`trimtab_rdma_port_mtu_bytes`, `trimtab_rdma_port_traffic_class_code`, `trimtab_rdma_port_routed_gids`.",
            "`mlnx_qos -i INTERFACE` or the driver's own tool: priorities with flow control, trust mode.",
        ),
        mitigation=("Set it as on the other ports, by whatever sets up nodes: by hand it is gone with a restart.",),
    ),
    "TrimtabCephDisturbed": Runbook(
        meaning=(
            "Something in Ceph does not get on, though its own SLOW_OPS may be silent: they count what takes longer "
            "than 30 s. The hint says what, and how far it reaches: an OSD, a host, the cluster. `stall`: operations "
            "at these OSDs have not ended for 10 s; `awaited`: others wait for this one; `silent`: counts as up and "
            "reports nothing; `paused`: a flag stops all clients; `full`: writes are refused; `slow-store`: an OSD's "
            "store waited for its disk for seconds."
        ),
        impact="Whoever has data there waits. A stalled OSD completes nothing, so that no latency shows it.",
        diagnosis=(
            "`trimtab_storage_disturbance > 0`: everything that goes on, with scope; recovery and scrub are told too.",
            "`trimtab_storage_osd_longest_stall_seconds`: who waited, and for how long.",
            "`trimtab_storage_osd_commit_latency_seconds`: whose own disk is slow.",
            "With --ceph-admin `trimtab_storage_osd_awaited_operations` names the OSD that others wait for.",
        ),
        mitigation=(
            "One OSD: look at its disk, then `ceph osd down osd.N` or `ceph osd out osd.N`.",
            "One host: its network, its controller, its memory. The cluster: its network, a flag, recovery.",
            "Recovery that starves clients: a lower `osd_max_backfills`, or the profile high_client_ops of mclock.",
        ),
    ),
    "TrimtabFabricSlow": Runbook(
        meaning=(
            "The latency of a probed pair of nodes missed the limit of the tenant's objective about RDMA twice in a "
            "row, and the tenant runs a gang of several nodes at one end at least. The hint names the worst pair."
        ),
        impact=(
            "Steps of the gang that synchronise wait for the slowest link. The tenant's quotas are left alone "
            "meanwhile: more of them would not make the network faster."
        ),
        diagnosis=(
            "`trimtab_rdma_latency_seconds` by `trimtab_rdma_baseline_seconds`: only 0.99 is often a busy host.",
            "Other pairs with the same node: all slow means the node or its link, all of a rack its switch.",
            "`port_xmit_wait`, ECN and CNP counters rise: congestion. Sequence errors, ACK time-outs: loss.",
            "Which jobs send most on these nodes?",
        ),
        mitigation=(
            "A neighbour: move it or limit it. A link: drain the node. A host that is busy: give the probe a core.",
            "A pair that is slower for good (another path or card) counts as usual after a day, or a restart.",
        ),
    ),
    "TrimtabGangHung": Runbook(
        meaning=(
            "For ten minutes every GPU of the gang was used above 95 %, while its tensor cores, its memory, its power "
            "and its network said that nothing is computed or exchanged: a collective that waits for a rank that will "
            "not come. It is silent where tensor activity, or both power and network, are not exported."
        ),
        impact=(
            "The gang holds all its GPUs and loses them all. What its tenant lacks meanwhile is not for want of quota, "
            "so the loop moves none for it."
        ),
        diagnosis=(
            "`trimtab explain TENANT` with `--prometheus-url` names the gang, `trimtab explain WORKLOAD` its signs.",
            "Logs of the ranks: the one that ended, or stands in another collective than the others.",
            "Sick or lost GPUs, or a port that went down, on one of its nodes?",
        ),
        mitigation=(
            "Restart it from its last checkpoint. A watchdog of the framework (time-out of collectives) would have.",
            "Drain a node whose GPU or port is the reason.",
        ),
    ),
    "TrimtabGangStraggles": Runbook(
        meaning=(
            "For ten minutes one rank's clock, activity or network was far from those of its own gang. Gangs whose "
            "ranks differ by design (stages of a pipeline) are left alone: only few may be far."
        ),
        impact="All ranks wait for the slowest: the whole gang computes as slowly as this one.",
        diagnosis=(
            "`trimtab explain WORKLOAD` with `--prometheus-url` names the rank and what is far.",
            "A slow clock: heat, a power brake, a cap that differs from the other nodes'.",
            "Much activity where others have little: its part of the work is larger, or its input comes late.",
        ),
        mitigation=(
            "Drain the node of a GPU that is held back, and look at its cooling and power.",
            "Else tell the owners of the job.",
        ),
    ),
    "TrimtabGpuSick": Runbook(
        meaning=(
            "Pods of the tenant hold GPUs that report an error of the hardware (*sick*), are no longer shown by the "
            "exporter of their node (*lost*), or are held back by heat or a brake for a tenth of their time "
            "(*throttled*). Errors of programs are none of these."
        ),
        impact="The pod fails or slows its gang; a lost GPU stays allocated until its pod ends.",
        diagnosis=(
            "`trimtab look --prometheus-url URL` names node, index and error.",
            "`dmesg` of the node and `nvidia-smi -q`: is it one device or the whole board?",
            "The last error code is never cleared: after a repair it stays until the driver is loaded anew.",
        ),
        mitigation=(
            "Cordon the node, let the gang end or restart it elsewhere, reset or replace the device.",
            "Do not drain many nodes at once for one kind of error: it may be the exporter.",
        ),
    ),
    "TrimtabNodeBlind": Runbook(
        meaning=(
            "The node role of the collector has not read devices of the node for five minutes, reads less than half of "
            "what they should tell, or is gone itself. Devices that vanished count as old."
        ),
        impact=(
            "Ports, interfaces and GPUs of this node are not judged. No decision needs them, so the loop goes on; what "
            "it says of hung gangs and slow ports there is incomplete."
        ),
        diagnosis=(
            "`trimtab_collector_unknown_readings` by reason, and `trimtab_collector_last_error_timestamp_seconds`.",
            "Is its pod Ready, and does it see the node's /sys?",
        ),
        mitigation=(
            "Restore it. A device that was taken out for good is forgotten when the node role restarts.",
            "A node that was taken out is forgotten after six hours.",
        ),
    ),
    "TrimtabBlind": Runbook(
        meaning=(
            "The collector is down, or one of its sources is old, gone or was never read. It is one alert for a "
            "cluster, however many sources are missing; the hint names the oldest."
        ),
        impact=(
            "No decision is taken that could evict. Soft reverts go on. Attainment has no verdict for windows of which "
            "more than 5 % is missing. Other alerts of the cluster are held back while this one fires."
        ),
        diagnosis=(
            "Is the collector's pod Ready, and does Prometheus scrape it (`up`)?",
            "`time() - trimtab_collector_last_success_timestamp_seconds` per source.",
            "`increase(trimtab_collector_errors_total[15m])` by source and reason.",
            "Do the clocks of the collector and of Prometheus agree?",
        ),
        mitigation=(
            "Restore the source; the loop resumes by itself.",
            "A source that was taken out or renamed on purpose is forgotten after six hours: until then, silence it.",
        ),
    ),
    "TrimtabControllerStalled": Runbook(
        meaning="No replica of the controller has finished a tick for several ticks.",
        impact=(
            "Nothing is decided. Changes in force are not verified by the loop; the janitor ends them at their time "
            "to live."
        ),
        diagnosis=(
            "Does a replica hold the Lease, and is its pod Ready?",
            "Its log: the API server or Prometheus may be too slow for a tick.",
            "Does Prometheus still scrape it? A controller that was removed on purpose is forgotten after a day.",
        ),
        mitigation=(
            "Restart the controller: its state survives.",
            "If it can not be brought back: `trimtab revert --all --soft`, or apply the baseline manifest.",
        ),
    ),
}
