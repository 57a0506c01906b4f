# SPDX-License-Identifier: Apache-2.0
"""Operators that are no row, and why. `none`: neither PyTorch nor NumPy has it. `composed`: they have it only as a program of
several operations. `sparse`: of sparse arrays, which bench/sparse.cpp asks about. `package`: in a package beside PyTorch."""
from .table import without

without("none", """Correlation SVMOutput MultiBoxDetection MultiBoxPrior MultiBoxTarget MultiProposal Proposal
    RROIAlign PSROIPooling bipartite_matching box_decode box_encode requantize
    random_generalized_negative_binomial random_generalized_negative_binomial_like sample_generalized_negative_binomial
    random_pdf_generalized_negative_binomial sample_unique_zipfian ftml_update ftrl_update signum_update multi_lars""")
without("composed", """quadratic gradientmultiplier SequenceLast SequenceMask SequenceReverse
    lamb_update_phase1 lamb_update_phase2 mp_lamb_update_phase1 mp_lamb_update_phase2 mp_adam_update mp_adamw_update mp_nag_mom_update
    mp_sgd_mom_update mp_sgd_update shape_array size_array""")
without("package", "ROIPooling ROIAlign box_iou box_nms")
without("sparse", """cast_storage sparse_retain getnnz edge_id dgl_adjacency dgl_csr_neighbor_non_uniform_sample
    dgl_csr_neighbor_uniform_sample dgl_graph_compact dgl_subgraph group_adagrad_update sparse_adagrad_update scatter_elemwise_div
    scatter_minus_scalar scatter_plus_scalar sddmm stored_softmax stored_log_softmax""")
