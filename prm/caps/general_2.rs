// SPDX-License-Identifier: GPL-2.0

//! General capabilities, second page: page 20h.

use crate::layout;

layout! {
    /// What no room was left for in the first page. Capability: `hca_cap_2`.
    pub struct General2: plain "cmd_hca_cap_2", 0x100 {
        0x10 [31:31] migratable: RW, "The function can be migrated.";
        0x10 [23:23] dp_ordering_force: RO, "A queue pair can force the data path's ordering.";
        0x10 [13:13] query_vuid: RO, "The function's VUID can be queried.";
        0x10 [7:7] umr_log_entity_size_5: RO, "UMR takes entities of 32 bytes.";

        0x14 [31:24] max_reformat_insert_size: RO, "Most bytes that packet reformat inserts.";
        0x14 [23:16] max_reformat_insert_offset: RO, "Largest offset that it inserts at.";
        0x14 [15:8] max_reformat_remove_size: RO, "Most bytes that packet reformat removes.";
        0x14 [7:0] max_reformat_remove_offset: RO, "Largest offset that it removes at.";

        0x18 [23:23] migration_multi_load: RO, "Migration: state can be loaded in several parts.";
        0x18 [22:22] migration_tracking_state: RO, "Migration: changes can be tracked.";
        0x18 [21:21] multiplane_qp_ud: RO, "UD queue pairs over several planes.";
        0x18 [15:15] migration_in_chunks: RO, "Migration: state can be saved in parts.";
        0x18 [13:13] sf_eq_usage: RO, "The event queues of an SF can be limited.";
        0x18 [7:7] multiplane: RO, "Ports of several planes.";
        0x18 [6:6] migration_state: RO, "Migration: the state can be queried.";

        0x1c [31:0] cross_vhca_object_to_object_supported: RO,
            "Pairs of object kinds that may refer to each other across functions, a bit each.";
        0x20 [63:0] allowed_object_for_other_vhca_access: RO,
            "Kinds of objects that another function may be let use, a bit each.";

        0x34 [31:24] flow_table_type_2_type: RO, "Bit n: type n of flow tables, second form.";
        0x34 [21:21] format_select_dw_8_6_ext: RO, "Match definer selects words 6 to 8.";
        0x34 [20:16] log_min_mkey_entity_size: RO, "log2 of the smallest entity of an MKey.";

        0x38 [63:0] general_obj_types_127_64: RO, "Bit n: general objects of type 64 + n.";

        0x44 [30:30] sw_vhca_id_valid: RW, "INIT_HCA takes sw_vhca_id.";
        0x44 [29:16] sw_vhca_id: RO, "Number of the function that software has chosen.";

        0x48 [20:16] ts_cqe_metadata_size2wqe_counter: RO,
            "log2 of the WQE counter's range in a CQE with a time stamp.";

        0x50 [31:24] format_select_dw_gtpu_dw_0: RO, "Match definer's selector of GTP-U word 0.";
        0x50 [23:16] format_select_dw_gtpu_dw_1: RO, "Match definer's selector of GTP-U word 1.";
        0x50 [15:8] format_select_dw_gtpu_dw_2: RO, "Match definer's selector of GTP-U word 2.";
        0x50 [7:0] format_select_dw_gtpu_first_ext_dw_0: RO,
            "Match definer's selector of the first GTP-U extension's word 0.";

        0x54 [31:0] generate_wqe_type: RO, "Bit n: GENERATE_WQE makes type n.";

        0x70 [20:16] min_mkey_log_entity_size_fixed_buffer: RO,
            "log2 of the smallest entity of an MKey with fixed buffers.";
        0x70 [15:0] ec_vf_vport_base: RO, "First vport of the embedded CPU's VFs.";

        0x74 [29:24] max_mkey_log_entity_size_fixed_buffer: RO,
            "log2 of the largest entity of an MKey with fixed buffers.";
        0x74 [21:16] max_mkey_log_entity_size_mtt: RO, "log2 of the largest entity of an MTT MKey.";
        0x74 [15:0] max_rqt_vhca_id: RO, "Largest vhca_id in an RQT.";

        0x7c [15:15] pcc_ifa2: RO, "Congestion control with IFA2.";

        0x80 [30:30] min_mkey_log_entity_size_fixed_buffer_valid: RO,
            "1: the smallest entity with fixed buffers is valid.";
        0x80 [15:0] return_reg_id: RO, "Register of a flow's metadata that returns take.";

        0x84 [3:0] flow_table_hash_type: RO, "Kind of hash of flow tables.";

        0x88 [23:0] max_num_eqs_24b: RO, "Most event queues, with more bits.";

        0xb4 [27:24] load_balance_id: RO, "Number of the load balancing group.";

        0xb8 [31:31] query_adjacent_functions_id: RO, "Adjacent functions can be queried.";
        0xb8 [30:30] ingress_egress_esw_vport_connect: RO,
            "A vport's ingress and egress can be connected to switches.";
        0xb8 [29:29] function_id_type_vhca_id: RO, "Commands take a vhca_id as function_id.";
        0xb8 [27:27] lag_per_mp_group: RO, "Link aggregation for each multi-port group.";
        0xb8 [15:0] delegate_vhca_management_profiles: RO,
            "Profiles of management that can be delegated, a bit each.";

        0xbc [31:16] delegated_vhca_max: RO, "Most functions that can be managed for others.";
        0xbc [15:0] delegate_vhca_max: RO, "Most functions that can be delegated.";
    }
}
