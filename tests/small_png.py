"""
Pictures of pages, made small: a palette of 256 colours, which is more than a page of flat colours and grey text needs.

The browser that drew a picture also decodes it, so that no library for pictures is needed.
"""

import base64
import struct
import zlib

import numpy as np
from playwright.sync_api import Page

_PIXELS = """
async (png) => {
    const bytes = Uint8Array.from(atob(png), (each) => each.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    canvas.getContext("2d").drawImage(picture, 0, 0);
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, picture.width, picture.height);
    let text = "";
    for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
    return { width, height, data: btoa(text) };
}
"""
_COLOURS = 256


def smaller(png: bytes, blank: Page) -> bytes:
    """The picture *png* with at most 256 colours, the rarer ones replaced by the nearest; *blank* decodes it."""
    told = blank.evaluate(_PIXELS, base64.b64encode(png).decode())
    pixels = np.frombuffer(base64.b64decode(told["data"]), np.uint8).reshape(-1, 4)[:, :3]
    colours, at, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.sort(np.argsort(-counts, kind="stable")[:_COLOURS])]
    apart = ((colours[:, None, :].astype(np.int32) - palette[None].astype(np.int32)) ** 2).sum(2)
    indices = apart.argmin(1).astype(np.uint8)[at.reshape(-1)].reshape(told["height"], told["width"])
    rows = np.hstack([np.zeros((told["height"], 1), np.uint8), indices])  # each row begins with its filter: none
    head = struct.pack(">IIBBBBB", told["width"], told["height"], 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
