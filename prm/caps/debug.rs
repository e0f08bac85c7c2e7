// SPDX-License-Identifier: GPL-2.0

//! Debug capabilities: page 0Dh.

use crate::layout;

layout! {
    /// What the device shows of itself.
    pub struct Debug: plain "debug_cap", 0x100 {
        0x00 [31:31] core_dump_general: RO, "Core dump of the whole device.";
        0x00 [30:30] core_dump_qp: RO, "Core dump of a queue pair.";
        0x00 [27:23] log_cr_dump_to_mem_size: RO,
            "log2 of a CR dump in units of 4 KiB; 0: no dump to memory.",
            source("mstflint, hca_debug_cap");
        0x00 [22:22] resource_dump: RO, "Resource dump.";
        0x00 [20:16] log_min_resource_dump_eq: RO,
            "log2 of the entries of an event queue for resource dumps, at least.",
            source("mstflint, hca_debug_cap");
        0x00 [7:0] log_max_samples: RO, "log2 of the samples that are kept.",
            source("mstflint, hca_debug_cap");

        0x04 [31:31] single: RO, "Diagnostic counters can be sampled once.",
            source("mstflint, hca_debug_cap");
        0x04 [30:30] repetitive: RO, "Diagnostic counters can be sampled again and again.",
            source("mstflint, hca_debug_cap");
        0x04 [29:29] health_mon_rx_activity: RO, "Stalls of the receive path are detected.",
            ifc("stall_detect");
        0x04 [28:28] diag_counter_tracer_dump: RO, "Samples can go to the tracer.",
            source("mstflint, hca_debug_cap");
        0x04 [7:0] log_min_sample_period: RO, "log2 of the shortest period, in device clocks.",
            source("mstflint, hca_debug_cap");
    }
}
