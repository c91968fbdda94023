"""Small office files, made by hand: ZIP files of XML."""

from zipfile import ZipFile

TYPES = """<?xml version="1.0"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>{}</Types>"""
TYPE = (
    '<Override PartName="/{}" ContentType="application/vnd.openxmlformats-officedocument.{}+xml"/>'
)
RELATIONS = """<?xml version="1.0"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>"""
RELATION = (
    '<Relationship Id="{}" Target="{}" {} '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{}"/>'
)
SPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
DOCX_BREAK = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
DOCX_PICTURE = """<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1000000" cy="1000000"/>
<wp:docPr id="1" name="a"/><a:graphic>
<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>
<pic:nvPicPr><pic:cNvPr id="1" name="a"/><pic:cNvPicPr/></pic:nvPicPr>
<pic:blipFill><a:blip r:link="{}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>
<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1000000" cy="1000000"/></a:xfrm>
<a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"""
ODF_SPACES = """xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
xmlns:xlink="http://www.w3.org/1999/xlink" """


def write_docx(path, *pages, pictures=(), more=""):
    """A page of words each, then linked pictures and other XML."""
    paragraphs = [f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>" for words in pages]
    body = DOCX_BREAK.join(paragraphs) + more
    links = ""
    for i, address in enumerate(pictures):
        links += RELATION.format(f"p{i}", address, 'TargetMode="External"', "image")
        body += DOCX_PICTURE.format(f"p{i}")
    main = TYPE.format("word/document.xml", "wordprocessingml.document.main")
    with ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", TYPES.format(main))
        start = RELATION.format("r", "word/document.xml", "", "officeDocument")
        file.writestr("_rels/.rels", RELATIONS.format(start))
        file.writestr("word/_rels/document.xml.rels", RELATIONS.format(links))
        file.writestr(
            "word/document.xml",
            f"""<?xml version="1.0"?><w:document {SPACES}
            xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
            xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
            xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"
            ><w:body>{body}</w:body></w:document>""",
        )
    return path


def write_pptx(path, words):
    """One slide."""
    types = TYPE.format("ppt/presentation.xml", "presentationml.presentation.main")
    types += TYPE.format("ppt/slides/slide1.xml", "presentationml.slide")
    with ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", TYPES.format(types))
        start = RELATION.format("r", "ppt/presentation.xml", "", "officeDocument")
        file.writestr("_rels/.rels", RELATIONS.format(start))
        slide = RELATION.format("s1", "slides/slide1.xml", "", "slide")
        file.writestr("ppt/_rels/presentation.xml.rels", RELATIONS.format(slide))
        space = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        file.writestr(
            "ppt/presentation.xml",
            f"""<?xml version="1.0"?><p:presentation {SPACES} {space}><p:sldIdLst>
            <p:sldId id="256" r:id="s1"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/>
            <p:notesSz cx="6858000" cy="9144000"/></p:presentation>""",
        )
        file.writestr(
            "ppt/slides/slide1.xml",
            f"""<?xml version="1.0"?><p:sld {SPACES} {space}><p:cSld><p:spTree>
            <p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>
            <p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>
            <p:spPr><a:xfrm><a:off x="900000" y="900000"/><a:ext cx="7000000" cy="1000000"/></a:xfrm>
            <a:prstGeom prst="rect"/></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>{words}</a:t></a:r></a:p>
            </p:txBody></p:sp></p:spTree></p:cSld></p:sld>""",
        )
    return path


def write_odf(path, body):
    """An .odt of paragraphs or an .ods of tables: the body of its content.xml."""
    kind = {".odt": "text", ".ods": "spreadsheet"}[path.suffix]
    media = f"application/vnd.oasis.opendocument.{kind}"
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    entry = '<manifest:file-entry manifest:full-path="{}" manifest:media-type="{}"/>'
    entries = entry.format("/", media) + entry.format("content.xml", "text/xml")
    with ZipFile(path, "w") as file:
        file.writestr("mimetype", media)
        file.writestr(
            "META-INF/manifest.xml",
            f'<?xml version="1.0"?><manifest:manifest {space}>{entries}</manifest:manifest>',
        )
        file.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {ODF_SPACES} office:version="1.2">'
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        )
    return path
