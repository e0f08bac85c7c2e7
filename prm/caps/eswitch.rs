// SPDX-License-Identifier: GPL-2.0

//! E-switch capabilities: page 9.

use crate::layout;

layout! {
    /// What the embedded switch can do.
    pub struct Eswitch: plain "e_switch_cap", 0x100 {
        0x00 [31:31] vport_svlan_strip: RO, "A vport can strip the service VLAN tag.";
        0x00 [30:30] vport_cvlan_strip: RO, "A vport can strip the customer VLAN tag.";
        0x00 [29:29] vport_svlan_insert: RO, "A vport can insert a service VLAN tag.";
        0x00 [28:28] vport_cvlan_insert_if_not_exist: RO,
            "A vport can insert a customer VLAN tag where there is none.";
        0x00 [27:27] vport_cvlan_insert_overwrite: RO,
            "A vport can replace the customer VLAN tag.";
        0x00 [25:25] vport_cvlan_insert_always: RO,
            "A vport can insert a customer VLAN tag in any case.";
        0x00 [24:24] esw_shared_ingress_acl: RO, "Vports can share an ingress ACL.";
        0x00 [23:23] esw_uplink_ingress_acl: RO, "The uplink can have an ingress ACL.";
        0x00 [22:22] root_ft_on_other_esw: RO, "The root table can be that of another switch.";
        0x00 [20:20] esw_vport_state_max_tx_speed: RO, "A vport's state has its largest speed.";
        0x00 [6:6] esw_functions_changed: RO,
            "QUERY_ESW_FUNCTIONS and its event are supported.";
        0x00 [4:4] ecpf_vport_exists: RO, "The embedded CPU's PF has a vport.";
        0x00 [3:3] counter_eswitch_affinity: RO, "A counter can belong to one switch.";
        0x00 [2:2] merged_eswitch: RO, "The switches of both ports can act as one.";
        0x00 [1:1] nic_vport_node_guid_modify: RO, "A vport's node GUID can be changed.";
        0x00 [0:0] nic_vport_port_guid_modify: RO, "A vport's port GUID can be changed.";

        0x04 [31:31] vxlan_encap_decap: RO, "VXLAN can be added and removed.";
        0x04 [30:30] nvgre_encap_decap: RO, "NVGRE can be added and removed.";
        0x04 [28:24] log_max_fdb_encap_uplink: RO, "log2 of the headers to add at the uplink.";
        0x04 [20:16] log_max_packet_reformat_context: RO, "log2 of the packet reformat contexts.";
        0x04 [9:0] max_encap_header_size: RO, "Largest header to add, in bytes.";

        0x08 [20:16] log_max_esw_sf: RO, "log2 of the SFs of the external host.";
        0x08 [15:0] esw_sf_base_id: RO, "Number of the first SF of the external host.";

        0x0c [31:31] esw_manager_vport_number_valid: RO, "1: the manager's vport is valid.";
        0x0c [15:0] esw_manager_vport_number: RO, "Vport of the switch's manager.";
    }
}
