// SPDX-License-Identifier: GPL-2.0

//! General capabilities: page 0.
//!
//! One line a field, in the order of the manual, a word apart from the next. The access is RW where
//! drivers choose a value by SET_HCA_CAP. Where no public source says what a field means, the line
//! says in words what its name says. Bits that have no sentence about a 0 mean "not supported".

use crate::{
    codes,
    layout, //
};

layout! {
    /// What the device can do, and how much of it there is.
    pub struct General: plain "cmd_hca_cap", 0x100 {
        0x00 [25:25] page_request_disable: RO, "Firmware never asks for pages at run time.";
        0x00 [24:24] abs_native_port_num: RO, "native_port_num counts all ports of the device.";
        0x00 [15:15] shared_object_to_user_object_allowed: RO,
            "A user's object may refer to a shared one.";
        0x00 [0:0] vhca_resource_manager: RW,
            "The function may manage other functions' resources.";

        0x04 [31:31] hca_cap_2: RO, "There is a second general page (20h).";
        0x04 [30:30] create_lag_when_not_master_up: RO,
            "CREATE_LAG works while the master is down.";
        0x04 [29:29] dtor: RO, "There is the register DTOR.";
        0x04 [28:28] event_on_vhca_state_teardown_request: RW,
            "A vhca state event tells of a teardown request.";
        0x04 [27:27] event_on_vhca_state_in_use: RW,
            "A vhca state event tells of a function in use.";
        0x04 [26:26] event_on_vhca_state_active: RW,
            "A vhca state event tells of an active function.";
        0x04 [25:25] event_on_vhca_state_allocated: RW,
            "A vhca state event tells of an allocated function.";
        0x04 [24:24] event_on_vhca_state_invalid: RO,
            "A vhca state event tells of an invalid function.";
        0x04 [15:0] vhca_id: RO, "Number of the function in the device.";

        0x10 [31:24] log_max_srq_sz: RO, "log2 of the WQEs of an SRQ.";
        0x10 [23:16] log_max_qp_sz: RO, "log2 of the WQEs of a queue pair.";
        0x10 [15:15] event_cap: RO,
            "There is a page with the events that users may ask for (14h).";
        0x10 [14:14] rc_qp_init2rts: RO, "RC can go from INIT to RTS in one command.",
            source("NVIDIA-generated PRM header");
        0x10 [13:13] rc_qp_create_on_init: RO, "A queue pair can be made in INIT.",
            source("NVIDIA-generated PRM header");
        0x10 [12:12] isolate_vl_tc_new: RO, "A queue pair can have a virtual lane of its own.";
        0x10 [7:7] prio_tag_required: RO, "Packets without VLAN need a priority tag.";
        0x10 [4:0] log_max_qp: RW, "log2 of the queue pairs.";

        0x14 [28:28] ece_support: RO, "Enhanced connection establishment.";
        0x14 [22:22] reg_c_preserve: RO, "Metadata registers C survive the switch.";
        0x14 [20:16] log_max_srq: RO, "log2 of the SRQs.";
        0x14 [14:14] uplink_follow: RO, "Vports follow the state of the uplink.";
        0x14 [13:13] ts_cqe_to_dest_cqn: RO,
            "A time stamp can go to a completion queue of its own.";
        0x14 [6:6] go_back_n: RO, "Retransmission goes back to the lost packet.";

        0x18 [31:24] max_sgl_for_optimized_performance: RO,
            "Most entries of a gather list at full speed.";
        0x18 [23:16] log_max_cq_sz: RO, "log2 of the entries of a completion queue.";
        0x18 [15:15] relaxed_ordering_write_umr: RO, "UMR can choose relaxed ordering of writes.";
        0x18 [14:14] relaxed_ordering_read_umr: RO, "UMR can choose relaxed ordering of reads.";
        0x18 [13:13] access_register_user: RO, "A user context may use ACCESS_REG.",
            source("NVIDIA-generated PRM header");
        0x18 [6:6] virtio_net_device_emualtion_manager: RO,
            "The function may manage emulated virtio net devices.";
        0x18 [5:5] virtio_blk_device_emualtion_manager: RO,
            "The function may manage emulated virtio block devices.";
        0x18 [4:0] log_max_cq: RO, "log2 of the completion queues.";

        0x1c [31:24] log_max_eq_sz: RO, "log2 of the entries of an event queue.";
        0x1c [23:23] relaxed_ordering_write: RO, "An MKey can choose relaxed ordering of writes.";
        0x1c [22:22] relaxed_ordering_read_pci_enabled: RO,
            "The same of reads, if PCI has it enabled.";
        0x1c [21:16] log_max_mkey: RO, "log2 of the MKeys.";
        0x1c [15:15] tunneled_atomic: RO, "Atomics over the tunnel; the name says no more.",
            source("NVIDIA-generated PRM header");
        0x1c [9:9] terminate_scatter_list_mkey: RO, "There is an MKey that ends a scatter list.";
        0x1c [8:8] repeated_mkey: RO, "There is an MKey for repeated patterns.";
        0x1c [7:7] dump_fill_mkey: RO, "There is an MKey for dumping and filling.";
        0x1c [4:4] fast_teardown: RO, "TEARDOWN_HCA knows prepare fast teardown.";
        0x1c [3:0] log_max_eq: RO, "log2 of the event queues.";

        0x20 [31:24] max_indirection: RO, "Most levels of indirect MKeys.";
        0x20 [23:23] fixed_buffer_size: RO, "An MKey can have buffers of one size.";
        0x20 [22:16] log_max_mrw_sz: RO, "log2 of the bytes of a memory region or window.";
        0x20 [15:15] force_teardown: RO, "TEARDOWN_HCA knows force close.";
        0x20 [13:8] log_max_bsf_list_size: RO, "log2 of the entries of a BSF list.";
        0x20 [7:7] umr_extended_translation_offset: RO,
            "UMR takes translation offsets of more bits.";
        0x20 [6:6] null_mkey: RO, "There is an MKey whose data go nowhere.";
        0x20 [5:0] log_max_klm_list_size: RO, "log2 of the entries of a KLM list.";

        0x24 [29:29] qpc_extension: RO, "A queue pair's context has an extension.";
        0x24 [21:16] log_max_ra_req_dc: RO,
            "log2 of the reads and atomics that a DC initiator has outstanding.";
        0x24 [13:13] eth_wqe_too_small: RO, "Counter of receive WQEs that were too small.";
        0x24 [6:6] vnic_env_cq_overrun: RO, "Counter of completion queue overruns.";
        0x24 [5:0] log_max_ra_res_dc: RO,
            "log2 of the reads and atomics that a DC target answers at once.";

        0x28 [26:26] release_all_pages: RW, "An event can release all pages of a function.";
        0x28 [25:25] must_not_use: RO, "Software must not use this bit.";
        0x28 [22:22] roce_accl: RO, "RoCE acceleration (register ROCE_ACCL).";
        0x28 [21:16] log_max_ra_req_qp: RO,
            "log2 of the reads and atomics that a queue pair has outstanding.";
        0x28 [5:0] log_max_ra_res_qp: RO,
            "log2 of the reads and atomics that a queue pair answers at once.";

        0x2c [31:31] end_pad: RO, "Received data can be padded at the end to a cache line.";
        0x2c [30:30] cc_query_allowed: RO, "Congestion control can be queried.";
        0x2c [29:29] cc_modify_allowed: RO, "Congestion control can be changed.";
        0x2c [28:28] start_pad: RO, "Received data can be padded at the start to a cache line.";
        0x2c [27:27] cache_line_128byte: RW, "The host's cache lines have 128 bytes.";
        0x2c [22:22] rts2rts_qp_counters_set_id: RO, "RTS2RTS_QP can change the counter set.";
        0x2c [19:19] vnic_env_int_rq_oob: RO, "Counter of internal receive queues out of buffers.";
        0x2c [18:18] sbcam_reg: RO, "There is the register SBCAM.";
        0x2c [16:16] qcam_reg: RO, "There is the register QCAM.";
        0x2c [15:0] gid_table_size: RO, "Size of the GID table, as a code.";

        0x30 [31:31] out_of_seq_cnt: RO, "Counter of packets out of sequence.";
        0x30 [30:30] vport_counters: RO, "There are counters of a vport.";
        0x30 [29:29] retransmission_q_counters: RO, "Counters of retransmissions.";
        0x30 [28:28] debug: RO, "There is a page of debug capabilities (0Dh).";
        0x30 [27:27] modify_rq_counter_set_id: RO, "MODIFY_RQ can change the counter set.";
        0x30 [26:26] rq_delay_drop: RO, "A receive queue can hold packets back before it drops.";
        0x30 [25:16] max_qp_cnt: RO, "Most counter sets for queue pairs.";
        0x30 [15:0] pkey_table_size: RW, "Size of the P_Key table, as a code; 0: 128 entries.";

        0x34 [31:31] vport_group_manager: RO, "The function may manage other functions' vports.";
        0x34 [30:30] vhca_group_manager: RO, "The function may manage other functions.";
        0x34 [29:29] ib_virt: RO, "InfiniBand virtualization.";
        0x34 [28:28] eth_virt: RO, "Ethernet virtualization.";
        0x34 [27:27] vnic_env_queue_counters: RO, "Counters of a vport's queues.";
        0x34 [26:26] ets: RO, "Enhanced transmission selection.";
        0x34 [25:25] nic_flow_table: RO, "Flow tables of the NIC.";
        0x34 [24:24] eswitch_manager: RO, "The function manages the embedded switch.";
        0x34 [23:23] device_memory: RO, "There is memory on the device for users.";
        0x34 [22:22] mcam_reg: RO, "There is the register MCAM.";
        0x34 [21:21] pcam_reg: RO, "There is the register PCAM.";
        0x34 [20:16] local_ca_ack_delay: RO, "The device's delay of acknowledgements, as a code.";
        0x34 [15:15] port_module_event: RO, "Events of modules (16h).";
        0x34 [14:14] enhanced_error_q_counters: RO, "More error counters of queue pairs.";
        0x34 [13:13] ports_check: RO, "Ports check for their capabilities.";
        0x34 [11:11] disable_link_up: RO, "The link can be kept from going up.";
        0x34 [10:10] beacon_led: RO, "The port's LED can blink to be found.";
        0x34 [9:8] port_type: RO, "What the ports speak.", names(PortType::name_of);
        0x34 [7:0] num_ports: RO, "Ports of the function.";

        0x38 [30:30] pps: RO, "Pulse per second.";
        0x38 [29:29] pps_modify: RO, "Pulse per second can be changed.";
        0x38 [28:24] log_max_msg: RO, "log2 of the bytes of a message.";
        0x38 [19:16] max_tc: RO, "Most traffic classes; 0: 8.";
        0x38 [15:15] temp_warn_event: RO, "Events of hot sensors (17h).";
        0x38 [14:14] dcbx: RO, "DCBX by firmware.";
        0x38 [13:13] general_notification_event: RO, "General events (22h).";
        0x38 [10:10] fpga: RO, "There is an FPGA.";
        0x38 [9:9] rol_s: RO, "Reset on LAN with a secured magic packet.";
        0x38 [8:8] rol_g: RO, "Reset on LAN with a magic packet.";
        0x38 [6:6] wol_s: RO, "Wake on LAN with a secured magic packet.";
        0x38 [5:5] wol_g: RO, "Wake on LAN with a magic packet.";
        0x38 [4:4] wol_a: RO, "Wake on LAN with ARP.";
        0x38 [3:3] wol_b: RO, "Wake on LAN with broadcast.";
        0x38 [2:2] wol_m: RO, "Wake on LAN with multicast.";
        0x38 [1:1] wol_u: RO, "Wake on LAN with unicast.";
        0x38 [0:0] wol_p: RO, "Wake on LAN with PHY activity.";

        0x3c [31:16] stat_rate_support: RO, "Static rates, a bit each.";
        0x3c [14:14] pci_sync_for_fw_update_event: RW,
            "Events of a synchronized firmware reset (22h, 8).";
        0x3c [7:7] init2_lag_tx_port_affinity: RO, "INIT2INIT_QP can change the port affinity.";
        0x3c [4:4] wqe_based_flow_table_update_cap: RO, "Flow tables can be updated by WQE.";
        0x3c [3:0] cqe_version: RO, "Version of completion queue entries.";

        0x40 [31:31] compact_address_vector: RO, "Address vectors can be compact.";
        0x40 [30:30] striding_rq: RO, "A receive queue can have strides.";
        0x40 [28:28] ipoib_enhanced_offloads: RO,
            "There is a page of enhanced IPoIB capabilities (6).";
        0x40 [27:27] ipoib_basic_offloads: RO, "There is a page of IPoIB capabilities (5).";
        0x40 [25:25] repeated_block_disabled: RO, "Repeated blocks are disabled.";
        0x40 [24:24] umr_modify_entity_size_disabled: RO, "UMR cannot change the entity size.";
        0x40 [23:23] umr_modify_atomic_disabled: RO, "UMR cannot change the right to atomics.";
        0x40 [22:22] umr_indirect_mkey_disabled: RO, "UMR cannot change indirect MKeys.";
        0x40 [21:20] umr_fence: RO, "Fence that UMR needs, as a code.";
        0x40 [19:19] dc_req_scat_data_cqe: RO, "A DC initiator can scatter data to the CQE.";
        0x40 [18:18] dc_connect_qp: RO, "A queue pair for DC connections.",
            source("NVIDIA-generated PRM header");
        0x40 [17:17] dc_cnak_trace: RO, "Trace of DC CNAK packets.",
            source("NVIDIA-generated PRM header");
        0x40 [16:16] drain_sigerr: RO, "A queue pair can drain on a signature error.";
        0x40 [15:14] cmdif_checksum: RW, "Signatures of mailboxes that are checked.",
            names(CmdifChecksum::name_of);
        0x40 [13:13] sigerr_cqe: RO, "Signature errors have a CQE.";
        0x40 [11:11] wq_signature: RO, "WQEs can have a signature.";
        0x40 [10:10] sctr_data_cqe: RO, "Small data can be scattered to the CQE.";
        0x40 [8:8] sho: RO, "Signature handover.";
        0x40 [7:7] tph: RW, "TLP processing hints.";
        0x40 [6:6] rf: RO, "Resources with RF; the name says no more.";
        0x40 [5:5] dct: RW, "Dynamically connected targets.";
        0x40 [4:4] qos: RO, "There is a page of quality of service (0Ch).";
        0x40 [3:3] eth_net_offloads: RO, "There is a page of Ethernet offloads (1).";
        0x40 [2:2] roce: RW, "There is a page of RoCE (4).";
        0x40 [1:1] atomic: RO, "There is a page of atomics (3).";

        0x44 [31:31] cq_oi: RO, "A completion queue can ignore overruns.";
        0x44 [30:30] cq_resize: RO, "A completion queue can be resized.";
        0x44 [29:29] cq_moderation: RO, "Completion events can be moderated.";
        0x44 [28:28] cq_period_mode_modify: RO, "The mode of moderation can be changed.";
        0x44 [25:25] cq_eq_remap: RO, "A completion queue can move to another event queue.";
        0x44 [24:24] pg: RO, "There is a page of on-demand paging (2).";
        0x44 [23:23] block_lb_mc: RO, "Loopback of multicast can be blocked.";
        0x44 [21:21] scqe_break_moderation: RO, "A solicited completion breaks moderation.";
        0x44 [20:20] cq_period_start_from_cqe: RO,
            "The period of moderation can start with a CQE.";
        0x44 [19:19] cd: RO, "Cross-channel operations (CORE-Direct).";
        0x44 [17:17] apm: RO, "Automatic path migration.";
        0x44 [16:16] vector_calc: RO, "Vector calculations.";
        0x44 [15:15] umr_ptr_rlky: RO, "UMR takes pointers with the reserved lkey.";
        0x44 [14:14] imaicl: RO, "Indirect MKeys with inline KLMs.";
        0x44 [13:13] qp_packet_based: RO, "A queue pair can count credits by packets.";
        0x44 [9:9] qkv: RO, "Counter of Q_Key violations.";
        0x44 [8:8] pkv: RO, "Counter of P_Key violations.";
        0x44 [7:7] set_deth_sqpn: RO, "Source queue pair of a UD packet can be set.";
        0x44 [3:3] xrc: RO, "Extended reliable connected transport.";
        0x44 [2:2] ud: RO, "Unreliable datagram transport.";
        0x44 [1:1] uc: RO, "Unreliable connected transport.";
        0x44 [0:0] rc: RO, "Reliable connected transport.";

        0x48 [31:31] uar_4k: RW, "A UAR has 4 KiB whatever the system's page.";
        0x48 [23:23] fl_rc_qp_when_roce_disabled: RO,
            "Force loopback of RC while RoCE is disabled.";
        0x48 [22:22] regexp_params: RO, "Regular expressions have parameters.";
        0x48 [21:16] uar_sz: RO, "log2 of the MiB of UARs in the BAR.";
        0x48 [15:15] port_selection_cap: RO, "There is a page of port selection (25h).";
        0x48 [14:14] nic_cap_reg: RO, "There is the register NIC_CAP.";
        0x48 [13:13] umem_uid_0: RO, "User memory can belong to the kernel's context.";
        0x48 [12:8] log_max_dc_cnak_qps: RO, "log2 of the DC CNAK queue pairs.",
            source("NVIDIA-generated PRM header");
        0x48 [7:0] log_pg_sz: RO, "log2 of the smallest page.";

        0x4c [31:31] bf: RO, "BlueFlame doorbells.";
        0x4c [30:30] driver_version: RO, "There is SET_DRIVER_VERSION.";
        0x4c [29:29] pad_tx_eth_packet: RO, "Short Ethernet packets are padded.";
        0x4c [25:25] mkey_by_name: RW, "Software can choose an MKey's number.";
        0x4c [20:16] log_bf_reg_size: RO, "log2 of the bytes of a BlueFlame register.";
        0x4c [15:15] disciplined_fr_counter: RO, "The free-running clock can be disciplined.";
        0x4c [12:12] qp_error_syndrome: RO, "A queue pair's error has a syndrome.";
        0x4c [9:8] lag_dct: RO, "DCT under link aggregation, as a code.";
        0x4c [7:7] lag_tx_port_affinity: RO, "Queues can choose the port under link aggregation.";
        0x4c [6:6] lag_native_fdb_selection: RO,
            "The switch can select the port under link aggregation.";
        0x4c [4:4] lag_master: RO, "The function can be master of a link aggregation.";
        0x4c [3:0] num_lag_ports: RO, "Most ports of a link aggregation.";

        0x50 [31:16] num_of_diagnostic_counters: RO, "Diagnostic counters.",
            source("mstflint register_access_table.adb (PRM 0.64 draft)");
        0x50 [15:0] max_wqe_sz_sq: RO, "Most bytes of a send WQE.";

        0x54 [31:31] icm_mng_function_id_mode: RO, "Page requests name the function's type.";
        0x54 [24:24] mkey_pcie_tph: RO, "An MKey can have TLP processing hints.";
        0x54 [22:22] tis_tir_td_order: RO, "Order of TIS, TIR and transport domain matters.";
        0x54 [21:21] psp: RO, "PSP security protocol.";
        0x54 [20:20] shampo: RO, "Splitting headers and merging payloads (SHAMPO).";
        0x54 [15:0] max_wqe_sz_rq: RO, "Most bytes of a receive WQE.";

        0x58 [31:16] max_flow_counter_31_16: RO, "Most flow counters, upper half.";
        0x58 [15:0] max_wqe_sz_sq_dc: RO, "Most bytes of a DC send WQE.";

        0x5c [31:27] query_host_net_function_num_max: RO,
            "Most functions that QUERY_ESW_FUNCTIONS (V1) lists.";
        0x5c [24:0] max_qp_mcg: RO, "Most queue pairs of a multicast group.";

        0x60 [15:8] flow_counter_bulk_alloc: RO, "Bit n: 2^n units of flow counters at once.";
        0x60 [7:0] log_max_mcg: RO, "log2 of the multicast groups.";

        0x64 [28:24] log_max_transport_domain: RO, "log2 of the transport domains.";
        0x64 [21:21] relaxed_ordering_read: RO, "An MKey can choose relaxed ordering of reads.";
        0x64 [20:16] log_max_pd: RO, "log2 of the protection domains.";
        0x64 [15:15] dp_ordering_ooo_all_ud: RO, "UD can take all packets out of order.";
        0x64 [14:14] dp_ordering_ooo_all_uc: RO, "UC can take all packets out of order.";
        0x64 [13:13] dp_ordering_ooo_all_xrc: RO, "XRC can take all packets out of order.";
        0x64 [12:12] dp_ordering_ooo_all_dc: RO, "DC can take all packets out of order.";
        0x64 [11:11] dp_ordering_ooo_all_rc: RO, "RC can take all packets out of order.";
        0x64 [10:10] pcie_reset_using_hotreset_method: RO,
            "A synchronized reset can use PCI hot reset.";
        0x64 [9:9] pci_sync_for_fw_update_with_driver_unload: RW,
            "A synchronized reset can unload drivers.";
        0x64 [8:8] vnic_env_cnt_steering_fail: RO, "Counter of steering failures.";
        0x64 [7:7] vport_counter_local_loopback: RO, "Counters of local loopback.";
        0x64 [6:6] q_counter_aggregation: RO, "Counters of several queues can be added up.";
        0x64 [5:5] q_counter_other_vport: RO, "Counters of another vport can be read.";
        0x64 [4:0] log_max_xrcd: RO, "log2 of the XRC domains.";

        0x68 [31:31] nic_receive_steering_discard: RO, "Counter of packets discarded by steering.";
        0x68 [30:30] receive_discard_vport_down: RO,
            "Counter of received packets while the vport was down.";
        0x68 [29:29] transmit_discard_vport_down: RO,
            "Counter of packets to send while the vport was down.";
        0x68 [28:28] eq_overrun_count: RO, "Counter of event queue overruns.";
        0x68 [26:26] invalid_command_count: RO, "Counter of invalid commands.";
        0x68 [25:25] quota_exceeded_count: RO, "Counter of exceeded quotas.";
        0x68 [23:16] log_max_flow_counter_bulk: RO, "log2 of the flow counters read at once.";
        0x68 [15:0] max_flow_counter_15_0: RO, "Most flow counters, lower half.";

        0x6c [28:24] log_max_rq: RO, "log2 of the receive queues.";
        0x6c [23:23] ft_alias_sw_vhca_id: RO, "Flow table aliases take software's vhca id.";
        0x6c [20:16] log_max_sq: RO, "log2 of the send queues.";
        0x6c [12:8] log_max_tir: RO, "log2 of the transport interface receives (TIR).";
        0x6c [4:0] log_max_tis: RO, "log2 of the transport interface sends (TIS).";

        0x70 [31:31] basic_cyclic_rcv_wqe: RO, "Cyclic receive queues for basic transports.";
        0x70 [28:24] log_max_rmp: RO, "log2 of the receive memory pools.";
        0x70 [23:23] sd_group_size: RO, "Size of a socket direct group is known.";
        0x70 [20:16] log_max_rqt: RO, "log2 of the receive queue tables.";
        0x70 [12:8] log_max_rqt_size: RO, "log2 of the entries of a receive queue table.";
        0x70 [7:7] tlp_device_emulation_manager: RO,
            "The function may manage devices emulated by TLP.";
        0x70 [6:6] vnic_env_cnt_bar_uar_access: RO, "Counter of accesses to UARs by BAR.";
        0x70 [5:5] vnic_env_cnt_odp_page_fault: RO, "Counter of on-demand page faults.";
        0x70 [4:0] log_max_tis_per_sq: RO, "log2 of the TIS of a send queue.";

        0x74 [31:31] ext_stride_num_range: RO, "Strides of a WQE have a wider range.";
        0x74 [30:30] roce_rw_supported: RW, "The right to RoCE can be changed.";
        0x74 [29:29] log_max_current_uc_list_wr_supported: RO,
            "The unicast list's size can be chosen.";
        0x74 [28:24] log_max_stride_sz_rq: RO, "log2 of the largest stride of a receive queue.";
        0x74 [20:16] log_min_stride_sz_rq: RO, "log2 of the smallest stride of a receive queue.";
        0x74 [13:13] qp_latency_sensitive_disable: RO,
            "Latency-sensitive queue pairs are disabled.";
        0x74 [12:8] log_max_stride_sz_sq: RO, "log2 of the largest stride of a send queue.";
        0x74 [4:0] log_min_stride_sz_sq: RO, "log2 of the smallest stride of a send queue.";

        0x78 [31:31] hairpin: RO, "Hairpin queues: receive to send in the device.";
        0x78 [28:24] log_max_hairpin_queues: RO, "log2 of the hairpin queues.";
        0x78 [20:16] log_max_hairpin_wq_data_sz: RO,
            "log2 of the largest data buffer of a hairpin queue.";
        0x78 [12:8] log_max_hairpin_num_packets: RO, "log2 of the packets in a hairpin queue.";
        0x78 [4:0] log_max_wq_sz: RO, "log2 of the entries of a work queue.";

        0x7c [31:31] nic_vport_change_event: RO, "Events of changed vport contexts (0Dh).";
        0x7c [30:30] disable_local_lb_uc: RO, "Local loopback of unicast can be disabled.";
        0x7c [29:29] disable_local_lb_mc: RO, "Local loopback of multicast can be disabled.";
        0x7c [28:24] log_min_hairpin_wq_data_sz: RO,
            "log2 of the smallest data buffer of a hairpin queue.";
        0x7c [22:22] silent_mode_set: RO, "Silent mode can be set.";
        0x7c [21:21] vhca_state: RW, "There are QUERY_VHCA_STATE and its events (0Fh).";
        0x7c [20:16] log_max_vlan_list: RO, "log2 of the VLANs of a vport.";
        0x7c [12:8] log_max_current_mc_list: RO, "log2 of the multicast addresses of a vport.";
        0x7c [6:6] silent_mode_query: RO, "Silent mode can be queried.";
        0x7c [5:5] query_host_net_function_v1: RO, "QUERY_ESW_FUNCTIONS has the V1 layout.";
        0x7c [4:0] log_max_current_uc_list: RW, "log2 of the unicast addresses of a vport.";

        0x80 [63:0] general_obj_types: RO, "Bit n: general objects of type n.";

        0x88 [31:30] sq_ts_format: RO, "Time stamps of send queues, as a code.";
        0x88 [29:28] rq_ts_format: RO, "Time stamps of receive queues, as a code.";
        0x88 [27:24] steering_format_version: RO, "Version of software steering's format.";
        0x88 [23:0] create_qp_start_hint: RO, "Where the search for a free queue pair begins.";

        0x8c [30:30] ats: RO, "Address translation services.";
        0x8c [29:29] cross_vhca_rqt: RO, "An RQT can have queues of another function.";
        0x8c [28:24] log_max_uctx: RO, "log2 of the user contexts.";
        0x8c [22:22] crypto: RO, "There is a page of crypto capabilities (1Ah).";
        0x8c [21:21] ipsec_offload: RO, "There is a page of IPsec capabilities (15h).";
        0x8c [20:16] log_max_umem: RO, "log2 of the user memory objects.";
        0x8c [15:0] max_num_eqs: RO, "Most event queues; 0: see log_max_eq.";

        0x90 [30:30] tls_tx: RO, "TLS on transmission.";
        0x90 [29:29] tls_rx: RO, "TLS on reception.";
        0x90 [28:24] log_max_l2_table: RO, "log2 of the layer 2 addresses.";
        0x90 [15:0] log_uar_page_sz: RW, "log2 of a UAR page in units of 4 KiB.";

        0x98 [31:0] device_frequency_mhz: RO, "Frequency of the device's clock in MHz.";

        0x9c [31:0] device_frequency_khz: RO, "Frequency of the device's clock in kHz.";

        0xa0 [29:29] nvmf_target_offload: RO, "There is a page of NVMe-oF (0Eh).",
            source("MLNX_OFED 24.07 mlx5_ifc.h");

        0xa4 [31:0] num_of_uars_per_page: RO, "UARs of a system page.";

        0xa8 [31:0] flex_parser_protocols: RO,
            "Protocols that the flexible parser knows, a bit each.";

        0xac [31:24] max_geneve_tlv_options: RO, "Most Geneve options that are parsed.";
        0xac [20:16] max_geneve_tlv_option_data_len: RO, "Most words of a Geneve option.";
        0xac [14:14] adv_rdma: RO, "There is a page of advanced RDMA (28h).";
        0xac [7:7] driver_version_before_init_hca: RO,
            "SET_DRIVER_VERSION is taken before INIT_HCA.",
            source("NVIDIA-generated PRM header");
        0xac [6:6] adv_virtualization: RO, "There is a page of advanced virtualization (26h).";
        0xac [4:0] log_max_dct_connections: RO, "log2 of the DCT connections.",
            source("NVIDIA-generated PRM header");

        0xb0 [31:24] log_max_atomic_size_qp: RO, "log2 of the largest atomic, on queue pairs.",
            source("NVIDIA-generated PRM header");
        0xb0 [20:16] log_max_dci_stream_channels: RO, "log2 of a DC initiator's streams.";
        0xb0 [12:8] log_max_dci_errored_streams: RO, "log2 of a DC initiator's streams in error.";
        0xb0 [7:0] log_max_atomic_size_dc: RO, "log2 of the largest atomic, on DC.",
            source("NVIDIA-generated PRM header");

        0xb4 [15:15] enhanced_cqe_compression: RO, "Compressed CQEs in the enhanced layout.";
        0xb4 [13:13] crossing_vhca_mkey: RO, "An MKey can refer to another function's.";
        0xb4 [12:8] log_max_dek: RO, "log2 of the data encryption keys.";
        0xb4 [3:3] mini_cqe_resp_stride_index: RO, "A mini CQE can have a stride index.";
        0xb4 [2:2] cqe_128_always: RO, "CQEs can always have 128 bytes.";
        0xb4 [1:1] cqe_compression_128: RO, "CQEs of 128 bytes can be compressed.";
        0xb4 [0:0] cqe_compression: RO, "CQEs can be compressed.";

        0xb8 [31:16] cqe_compression_timeout: RO,
            "Longest wait for more CQEs to compress, in microseconds.";
        0xb8 [15:0] cqe_compression_max_num: RO, "Most CQEs compressed into one.";

        0xbc [23:20] flex_parser_id_gtpu_dw_0: RO, "Flexible parser of GTP-U word 0.";
        0xbc [15:15] tag_matching: RO, "Tag matching.";
        0xbc [14:14] rndv_offload_rc: RO, "Rendezvous over RC.";
        0xbc [13:13] rndv_offload_dc: RO, "Rendezvous over DC.";
        0xbc [12:8] log_tag_matching_list_sz: RO, "log2 of the tags of a list.";
        0xbc [4:0] log_max_xrq: RO, "log2 of the XRQs.";

        0xc0 [31:24] affiliate_nic_vport_criteria: RO,
            "How vports of two functions are affiliated, a bit each.";
        0xc0 [23:16] native_port_num: RO, "Port of the device that the function belongs to.";
        0xc0 [15:8] num_vhca_ports: RW, "Ports of the function, others' included; 0: one.";
        0xc0 [7:4] flex_parser_id_gtpu_teid: RO, "Flexible parser of the GTP-U TEID.";
        0xc0 [1:1] sw_owner_id: RO, "INIT_HCA takes sw_owner_id.";

        0xc4 [31:16] max_num_of_monitor_counters: RO, "Most counters that are monitored.";
        0xc4 [15:0] num_ppcnt_monitor_counters: RO, "Port counters that can be monitored.";

        0xc8 [31:16] max_num_sf: RO, "Most SFs.";
        0xc8 [15:0] num_q_monitor_counters: RO, "Queue counters that can be monitored.";

        0xd0 [31:31] sf: RO, "SFs: functions without a PCI function.";
        0xd0 [30:30] sf_set_partition: RO, "SFs can be partitioned.";
        0xd0 [28:24] log_max_sf: RO, "log2 of the SFs.";
        0xd0 [23:23] apu: RO, "Auxiliary processing units.";
        0xd0 [18:18] migration: RO, "Migration of functions.";
        0xd0 [15:8] log_min_sf_size: RO, "log2 of an SF's part of the BAR in units of 4 KiB.";
        0xd0 [7:0] max_num_sf_partitions: RO, "Most partitions of SFs.";

        0xd4 [31:0] uctx_cap: RO, "What a user context may be let do, a bit each.";

        0xd8 [27:24] flex_parser_id_geneve_tlv_option_0: RO, "Flexible parser of Geneve option 0.";
        0xd8 [23:20] flex_parser_id_icmp_dw1: RO, "Flexible parser of ICMP word 1.";
        0xd8 [19:16] flex_parser_id_icmp_dw0: RO, "Flexible parser of ICMP word 0.";
        0xd8 [15:12] flex_parser_id_icmpv6_dw1: RO, "Flexible parser of ICMPv6 word 1.";
        0xd8 [11:8] flex_parser_id_icmpv6_dw0: RO, "Flexible parser of ICMPv6 word 0.";
        0xd8 [7:4] flex_parser_id_outer_first_mpls_over_gre: RO,
            "Flexible parser of MPLS over GRE.";
        0xd8 [3:0] flex_parser_id_outer_first_mpls_over_udp_label: RO,
            "Flexible parser of MPLS over UDP.";

        0xdc [31:16] max_num_match_definer: RO, "Most match definers.";
        0xdc [15:0] sf_base_id: RO, "Number of the first SF.";

        0xe0 [31:28] flex_parser_id_gtpu_dw_2: RO, "Flexible parser of GTP-U word 2.";
        0xe0 [27:24] flex_parser_id_gtpu_first_ext_dw_0: RO,
            "Flexible parser of the first GTP-U extension.";
        0xe0 [23:0] num_total_dynamic_vf_msix: RW, "MSI-X vectors to share out among VFs.";

        0xe4 [11:0] dynamic_msix_table_size: RW, "MSI-X vectors of this VF, as shared out.";

        0xe8 [19:16] min_dynamic_vf_msix_table_size: RO, "Fewest MSI-X vectors of a VF.";
        0xe8 [14:14] host_net_functions_changed: RO,
            "QUERY_ESW_FUNCTIONS and its event are supported.",
            source("NVIDIA-generated PRM header");
        0xe8 [13:13] data_direct: RO, "Data direct: DMA by a second PCI function.";
        0xe8 [11:0] max_dynamic_vf_msix_table_size: RO, "Most MSI-X vectors of a VF.";

        0xec [28:24] log_max_num_header_modify_argument: RO,
            "log2 of the header modify arguments.";
        0xec [23:20] log_header_modify_argument_granularity_offset: RO,
            "Unit that the arguments' granularity counts from.";
        0xec [19:16] log_header_modify_argument_granularity: RO,
            "log2 of the arguments taken at once, at least.";
        0xec [12:8] log_header_modify_argument_max_alloc: RO,
            "log2 of the arguments taken at once, at most.";

        0xf0 [63:0] vhca_tunnel_commands: RO,
            "Commands that may be sent for another function, a bit each.";

        0xf8 [63:0] match_definer_format_supported: RO, "Bit n: format n of match definers.";
    }
}

codes! {
    /// What a port speaks.
    pub struct PortType(u8) {
        INFINIBAND = 0 "InfiniBand",
        ETHERNET = 1 "Ethernet",
    }
}

codes! {
    /// Which signatures of mailboxes the device checks.
    pub struct CmdifChecksum(u8) {
        DISABLED = 0 "disabled",
        INITIAL = 1 "initial state",
        ENABLED = 3 "enabled",
    }
}
