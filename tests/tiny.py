"""Tiny random checkpoints of the real classes, made in seconds without a hub.

Random attention is nearly uniform and would prove nothing, so queries and keys are sharpened. The end token of ColQwen
is its pad token: with pad_token_id in the config its embedding would be zero and its attention uniform, so it is left
out, as the real configs do.
"""

import json
import shutil
from functools import cache

from later import safetensors_torch, torch
from PIL import Image
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

KINDS = [
    "ColQwen2_5",
    "ColQwen2",
    "ColQwen3",
    "ColQwen3_5",
    "ColPali",
    "ColIdefics3",
    "ColModernVBert",
]
WORDS = [
    "Describe the image.",
    "user\n",
    "User:",
    "Assistant:",
    "Query: ",
    "what is the revenue in 2023?",
]
QWEN = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
IDEFICS = [
    "<|im_start|>",
    "<|im_end|>",
    "<fake_token_around_image>",
    "<image>",
    "<end_of_utterance>",
    "<global-img>",
]
IDEFICS += [f"<row_{r}_col_{c}>" for r in range(1, 7) for c in range(1, 7)]
TEXT = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
}
TEXT |= {"num_key_value_heads": 2, "max_position_embeddings": 4096}
MODERN_LAYERS = 4  # the fourth sees everything, a fifth only its neighbours
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
}


def make(kind, folder):
    """A folder that from_pretrained of the real class loads."""
    import colpali_engine.models as engine

    torch.manual_seed(0)
    name = {"ColQwen2_5": "ColQwen2_5_Processor"}.get(kind, f"{kind}Processor")
    processor, config = MAKERS[kind](getattr(engine, name))
    model = getattr(engine, kind)(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if (
                name.endswith(("q_proj.weight", "k_proj.weight", "Wqkv.weight"))
                and "vis" not in name
            ):
                weight.mul_(8)
            if name.endswith(("q_norm.weight", "k_norm.weight")):
                weight.add_(1.5)
            if name.endswith(("embed_tokens.weight", "tok_embeddings.weight")):
                weight.mul_(10)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


# of the adapters of ColQwen2.5 and ColNomic on the hub: every projection of the language model, and the last layer
PUBLISHED_TARGETS = (
    r"(.*(model).*(down_proj|gate_proj|up_proj|k_proj|q_proj|v_proj|o_proj).*$"
    r"|.*(custom_text_proj).*$)"
)


def make_lora(base, folder, targets=("q_proj", "v_proj"), seed=1):
    """An adapter onto a checkpoint, with weights that change its output."""
    from colpali_engine.models import ColQwen2_5
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(seed)
    if not isinstance(targets, str):
        targets = list(targets)
    lora = LoraConfig(r=4, target_modules=targets, init_lora_weights=False)
    get_peft_model(ColQwen2_5.from_pretrained(base), lora).save_pretrained(folder)
    _copy_processor(base, folder)
    return folder


def as_published(lora, folder):
    """The same adapter with the keys that adapters of the hub have: model.layers instead of language_model.layers."""
    shutil.copytree(lora, folder)
    file = folder / "adapter_model.safetensors"
    weights = {}
    for name, weight in safetensors_torch.load_file(file).items():
        weights[name.replace("language_model.layers", "model.layers")] = weight
    safetensors_torch.save_file(weights, file, {"format": "pt"})
    return folder


def _copy_processor(base, folder):
    for file in base.iterdir():
        if "token" in file.name or "processor" in file.name or file.name.endswith(".jinja"):
            shutil.copy(file, folder)


def picture(width, height, seed):
    """Something like a page: noise in bars."""
    noise = Image.effect_noise((width, height), 40 + 10 * seed).convert("RGB")
    return Image.blend(
        noise, Image.linear_gradient("L").resize((width, height)).convert("RGB"), 0.5
    )


@cache
def byte_pairs():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        WORDS * 20,
        trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=alphabet),
    )
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [
        tuple(m) if not isinstance(m, str) else tuple(m.split(" ")) for m in model["merges"]
    ]


def special(words):
    return [AddedToken(word, special=True, normalized=False) for word in words]


def qwen(config_class, patch, rope, vision, **text):
    """A maker for one of the Qwen classes."""

    def maker(processor_class):
        import transformers as t

        vocab, merges = byte_pairs()
        tokenizer = t.Qwen2Tokenizer(
            vocab=vocab, merges=merges, eos_token="<|im_end|>", pad_token="<|endoftext|>"
        )
        tokenizer.add_tokens(special(QWEN))
        cell = 2 * patch
        sizes = {"shortest_edge": 4 * cell**2, "longest_edge": 64 * cell**2}
        images = t.Qwen2VLImageProcessor(
            patch_size=patch, merge_size=2, temporal_patch_size=2, size=sizes
        )
        videos = (t.Qwen3VLVideoProcessor if patch == 16 else t.Qwen2VLVideoProcessor)(
            patch_size=patch, merge_size=2
        )
        processor = processor_class(
            image_processor=images, tokenizer=tokenizer, video_processor=videos
        )
        ids = tokenizer.convert_tokens_to_ids
        tokens = {
            f"{k}_token_id": ids(f"<|{v}|>")
            for k, v in {"image": "image_pad", "video": "video_pad"}.items()
        }
        tokens |= {f"vision_{k}_token_id": ids(f"<|vision_{k}|>") for k in ("start", "end")}
        rope_parameters = {"rope_type": "default", "rope_theta": 1e6, **rope}
        more = {
            "vocab_size": len(tokenizer) + 8,
            "bos_token_id": None,
            "pad_token_id": None,
            "eos_token_id": ids("<|im_end|>"),
        }
        tower = {
            "depth": 2,
            "num_heads": 2,
            "patch_size": patch,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            **vision,
        }
        config = getattr(t, config_class)
        return processor, config(
            text_config=TEXT | more | text | {"rope_parameters": rope_parameters},
            vision_config=tower,
            **tokens,
        )

    return maker


def paligemma(processor_class):
    import transformers as t

    vocab = {w: i for i, w in enumerate(["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "\n"])}
    for word in [*(f"<0x{i:02X}>" for i in range(256)), "▁", *map(chr, range(33, 127))]:
        vocab.setdefault(word, len(vocab))
    images = t.SiglipImageProcessor(
        size={"height": 112, "width": 112}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    images.image_seq_length = 64
    processor = processor_class(
        image_processor=images, tokenizer=t.GemmaTokenizer(vocab=vocab, merges=[])
    )
    size = len(processor.tokenizer) + 8
    ends = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 1}
    text = (
        TEXT
        | ends
        | {"model_type": "gemma", "num_key_value_heads": 1, "head_dim": 16, "vocab_size": size}
    )
    tower = VISION | {
        "model_type": "siglip_vision_model",
        "image_size": 112,
        "patch_size": 14,
        "vision_use_head": False,
    }
    shared = {
        "projection_dim": 64,
        "hidden_size": 64,
        "vocab_size": size,
        "image_token_index": processor.image_token_id,
    }
    return processor, t.PaliGemmaConfig(vision_config=tower, text_config=text, **shared, **ends)


def tiles(processor_class):
    import transformers as t

    vocab, merges = byte_pairs()
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = (
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoders.ByteLevel(),
    )
    tokenizer.add_special_tokens(special(IDEFICS))
    ends = {
        "bos_token": "<|im_start|>",
        "eos_token": "<end_of_utterance>",
        "pad_token": "<|im_end|>",
    }
    fast = t.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<end_of_utterance>", **ends
    )
    sizes = {"size": {"longest_edge": 256}, "max_image_size": {"longest_edge": 64}}
    images = t.Idefics3ImageProcessor(**sizes, do_image_splitting=True)
    return processor_class(image_processor=images, tokenizer=fast, image_seq_len=16), fast


def idefics3(processor_class):
    from transformers import Idefics3Config

    processor, tokenizer = tiles(processor_class)
    image = tokenizer.convert_tokens_to_ids("<image>")
    text = TEXT | {
        "model_type": "llama",
        "vocab_size": len(tokenizer) + 8,
        "pad_token_id": tokenizer.pad_token_id,
    }
    tower = VISION | {"image_size": 64, "patch_size": 8}
    return processor, Idefics3Config(
        image_token_id=image, scale_factor=2, vision_config=tower, text_config=text
    )


def modernvbert(processor_class):
    from transformers import ModernVBertConfig

    processor, tokenizer = tiles(processor_class)
    image = tokenizer.convert_tokens_to_ids("<image>")
    text = {k: v for k, v in TEXT.items() if k != "num_key_value_heads"} | {
        "model_type": "modernbert",
        "num_hidden_layers": MODERN_LAYERS,
    }
    text |= {
        "local_attention": 16,
        "global_attn_every_n_layers": 3,
        "vocab_size": len(tokenizer) + 8,
    }
    text |= {
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "cls_token_id": 0,
        "sep_token_id": 1,
    }
    tower = VISION | {
        "model_type": "siglip_vision_model",
        "image_size": 64,
        "patch_size": 8,
        "vision_use_head": False,
    }
    return processor, ModernVBertConfig(
        image_token_id=image, pixel_shuffle_factor=2, vision_config=tower, text_config=text
    )


OUT = {"hidden_size": 32, "intermediate_size": 48, "out_hidden_size": 64}
MROPE = {"mrope_section": [2, 3, 3]}
LINEAR = {
    "num_hidden_layers": 4,
    "head_dim": 16,
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
}
LINEAR |= {
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
}
PARTIAL = {"partial_rotary_factor": 0.5, "mrope_section": [2, 1, 1], "mrope_interleaved": True}
MAKERS = {
    "ColQwen2_5": qwen(
        "Qwen2_5_VLConfig", 14, MROPE, OUT | {"window_size": 112, "fullatt_block_indexes": [1]}
    ),
    "ColQwen2": qwen(
        "Qwen2VLConfig", 14, MROPE, {"embed_dim": 32, "hidden_size": 64, "mlp_ratio": 2}
    ),
    "ColQwen3": qwen(
        "Qwen3VLConfig",
        16,
        MROPE | {"mrope_interleaved": True},
        OUT | {"num_position_embeddings": 64, "deepstack_visual_indexes": [0]},
        head_dim=16,
    ),
    "ColQwen3_5": qwen(
        "Qwen3_5Config", 16, PARTIAL, OUT | {"num_position_embeddings": 64}, **LINEAR
    ),
    "ColPali": paligemma,
    "ColIdefics3": idefics3,
    "ColModernVBert": modernvbert,
}
