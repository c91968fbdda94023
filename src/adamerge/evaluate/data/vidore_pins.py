"""Where the data of each ViDoRe task is on the hub, and at which commit: as mteb 2.26.24 pins them.

They stand here too, so that a run is of the same data whichever mteb is installed, and needs none.
"""

PINS = {  # task -> repository, commit
    "VidoreArxivQARetrieval": (
        "mteb/arxivqa_test_subsampled_beir",
        "179762404662be6bf48c30b4fb2b2ef8c6891290",
    ),
    "VidoreDocVQARetrieval": (
        "mteb/docvqa_test_subsampled_beir",
        "e78cd130055fcb8d69bb0ff4115c4712a157f3d3",
    ),
    "VidoreInfoVQARetrieval": (
        "mteb/infovqa_test_subsampled_beir",
        "74d396242cc281c021eeb38d0ee5f6f30afc1fad",
    ),
    "VidoreTabfquadRetrieval": (
        "mteb/tabfquad_test_subsampled_beir",
        "24a4541c4c461f5ff4f4af4e97ec820715281a06",
    ),
    "VidoreTatdqaRetrieval": (
        "mteb/tatdqa_test_beir",
        "dc7924ec102addd7f85c1ccfdd8625848179f615",
    ),
    "VidoreShiftProjectRetrieval": (
        "mteb/shiftproject_test_beir",
        "78e6f5ad3bbc1af50ae9c0f006f57462213269fb",
    ),
    "VidoreSyntheticDocQAAIRetrieval": (
        "mteb/syntheticDocQA_artificial_intelligence_test_beir",
        "12c5b7a81fc19d66f1844642acdb88e8ad79af16",
    ),
    "VidoreSyntheticDocQAEnergyRetrieval": (
        "mteb/syntheticDocQA_energy_test_beir",
        "eda52c9a0519252cfaacb7ae5e5da516b7d4b8cb",
    ),
    "VidoreSyntheticDocQAGovernmentReportsRetrieval": (
        "mteb/syntheticDocQA_government_reports_test_beir",
        "ec534abea699035a18f9fd76f215277de9db9600",
    ),
    "VidoreSyntheticDocQAHealthcareIndustryRetrieval": (
        "mteb/syntheticDocQA_healthcare_industry_test_beir",
        "81d53880628d641aaf7365f3b2e65f57c814ecca",
    ),
    "Vidore2ESGReportsRetrieval": (
        "vidore/esg_reports_v2",
        "0542c0d03da0ec1c8cbc517c8d78e7e95c75d3d3",
    ),
    "Vidore2EconomicsReportsRetrieval": (
        "vidore/economics_reports_v2",
        "b3e3a04b07fbbaffe79be49dabf92f691fbca252",
    ),
    "Vidore2BioMedicalLecturesRetrieval": (
        "vidore/biomedical_lectures_v2",
        "a29202f0da409034d651614d87cd8938d254e2ea",
    ),
    "Vidore2ESGReportsHLRetrieval": (
        "vidore/esg_reports_human_labeled_v2",
        "6d467dedb09a75144ede1421747e47cf036857dd",
    ),
    "Vidore3FinanceEnRetrieval": (
        "vidore/vidore_v3_finance_en_mteb_format",
        "fa78cb14152b3dde8c5defdc4e3ddf50de69dfeb",
    ),
    "Vidore3IndustrialRetrieval": (
        "vidore/vidore_v3_industrial_mteb_format",
        "f732b725cf4a70803210edfe265a04f8bd5328f6",
    ),
    "Vidore3ComputerScienceRetrieval": (
        "vidore/vidore_v3_computer_science_mteb_format",
        "fb7fb69f81f7db62790f40494124b8ad22b424ab",
    ),
    "Vidore3PharmaceuticalsRetrieval": (
        "vidore/vidore_v3_pharmaceuticals_mteb_format",
        "237ed4f43c7fb3c4df07ec4e9dd0a4366be555b0",
    ),
    "Vidore3HrRetrieval": (
        "vidore/vidore_v3_hr_mteb_format",
        "bc7d43d64815ed30f664168c8052106484aba7fd",
    ),
    "Vidore3FinanceFrRetrieval": (
        "vidore/vidore_v3_finance_fr_mteb_format",
        "8a2adfda85a7967c7252129703d9b3c7c9f038a9",
    ),
    "Vidore3PhysicsRetrieval": (
        "vidore/vidore_v3_physics_mteb_format",
        "2c18ef90ab3ef93a9d86ecc6521cdae2a29f8300",
    ),
    "Vidore3EnergyRetrieval": (
        "vidore/vidore_v3_energy_mteb_format",
        "84fca99e5978604bae30f2436eacb6dbaa0532e9",
    ),
}
