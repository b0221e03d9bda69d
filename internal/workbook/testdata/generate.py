"""Writes workbooks of many kinds of cells with openpyxl and what openpyxl reads of them."""
import datetime as dt, json, os, random, sys, warnings, zipfile, re
import openpyxl
from openpyxl.chart import BarChart
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
warnings.simplefilter("ignore")
FORMATS = ["General","0.00","yyyy-mm-dd","d-mmm-yy","h:mm","h:mm:ss","[h]:mm:ss","mm:ss","[mm]:ss","yyyy-mm-dd h:mm:ss",'"day" 0','0 "d"',"[Red]0.00","[$-409]d mmm yyyy","_d0","\\d0","0;d","dd/mm/yyyy;@","mmss.0","[$EUR ]#,##0.00_-","@","#,##0_);(#,##0)","[hh]:mm","[s].00","AM/PM","General;d", "0.00E+00","yyyy\"年\"m\"月\"", "[$-F800]dddd, mmmm dd, yyyy","# ?/?", "ss.000", "Y", "[Blue]", "0.0 \"hours\"", "m/d/yy h:mm"]
def value(r):
    k = r.randrange(16)
    if k == 0: return r.randrange(-10**6, 10**6)
    if k == 1: return r.choice([0.1+0.2, 2.675, 1e20, -1e-7, 45293.5, 0.5, 59.9, 60, 61.25, -3.75, 1/3, 0.999999999, 2958465, 2958466, 0, 1e10])
    if k == 2: return r.random()*10**r.randrange(-3, 6)
    if k == 3: return r.choice([True, False])
    if k == 4: return r.choice(["abc", " x ", "", "12:30", "#N/A", "1,000", "nan", "ä€𝄞", "line\nbreak", "_x005F_x000A_", "a & <b>", "0123", "1e3", "\u0663", "True", "x\ty"])
    if k == 5: return dt.datetime(r.randrange(1900, 2100), r.randrange(1, 13), r.randrange(1, 28), r.randrange(24), r.randrange(60), r.randrange(60), r.choice([0, 0, 123000, 999999]))
    if k == 6: return dt.date(r.randrange(1900, 2100), r.randrange(1, 13), r.randrange(1, 28))
    if k == 7: return dt.time(r.randrange(24), r.randrange(60), r.randrange(60), r.choice([0, 0, 500000, 1000]))
    if k == 8: return dt.timedelta(days=r.randrange(0, 3), seconds=r.randrange(86400), microseconds=r.choice([0, 1500, 999600]))
    if k == 9: return r.choice(["=A1+1", "=SUM(A1:B2)", '=IF(A1>0,"x","y")'])
    if k == 10: return r.choice(["#DIV/0!", "#REF!", "#VALUE!", "#NAME?"])
    if k == 11: return CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"), " end ")
    return None
def patch(path, r):
    """Adds what openpyxl does not write: cached values, ISO dates, inline texts, cells without a place."""
    out = path + ".tmp"
    with zipfile.ZipFile(path) as z, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as w:
        for n in z.namelist():
            b = z.read(n)
            if n.startswith("xl/worksheets/sheet"):
                s = b.decode()
                def cached(m):
                    k = r.randrange(5)
                    if k == 0: return m.group(0)
                    if k == 1: return m.group(0).replace("<v />", "<v>%s</v>" % r.choice(["7", "7.25", "1E+3", "45000"])).replace("<v></v>", "<v>7</v>")
                    if k == 2: return m.group(0).replace("<c ", '<c t="str" ', 1).replace("<v />", "<v>text &amp; more</v>")
                    if k == 3: return m.group(0).replace("<c ", '<c t="b" ', 1).replace("<v />", "<v>1</v>")
                    return m.group(0).replace("<c ", '<c t="e" ', 1).replace("<v />", "<v>#N/A</v>")
                s = re.sub(r"<c [^>]*><f>[^<]*</f><v ?/></c>", cached, s)
                extra = '<row r="60"><c r="A60" t="d"><v>%s</v></c><c t="inlineStr"><is><r><t>a </t></r><r><t xml:space="preserve"> b</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c><c><v>5</v></c><c r="H60" t="n"><v> 3 </v></c><c t="str"><v>end</v></c></row><row><c><v>61</v></c></row>' % r.choice(["2024-05-06", "2024-05-06T07:08:09", "07:08", "2024-05-06T07:08:09.123Z", "PT1H2M3.5S", "07:08:09.5"])
                s = s.replace("</sheetData>", extra + "</sheetData>")
                b = s.encode()
            w.writestr(n, b)
    os.replace(out, path)
def shown(v):
    if v is None: return None
    if isinstance(v, bool): return {"bool": v}
    if isinstance(v, (int, float)): return {"number": repr(float(v))}
    if isinstance(v, dt.datetime): return {"datetime": v.isoformat()}
    if isinstance(v, dt.date): return {"date": v.isoformat()}
    if isinstance(v, dt.time): return {"time": round((v.hour*3600+v.minute*60+v.second)*10**6+v.microsecond)}
    if isinstance(v, dt.timedelta): return {"span": (v.days*86400+v.seconds)*10**6+v.microseconds}
    return {"text": str(v)}
def main(folder, n):
    with open(os.path.join(folder, "cells.jsonl"), "w") as f:
        for i in range(n):
            r = random.Random(i)
            wb = openpyxl.Workbook()
            if r.random() < .2: wb.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
            wb.active.title = r.choice(["Sheet", "S 1", "Ä'b", "Data!"]) if r.random() < .5 else "One"
            if r.random() < .3: wb.create_chartsheet("Chart", r.choice([0, None])).add_chart(BarChart())
            for extra in range(r.randrange(3)): wb.create_sheet("More %d" % extra)
            for ws in wb.worksheets:
                for _ in range(r.randrange(1, 60)):
                    c = ws.cell(r.choice([r.randrange(1, 12), r.randrange(1, 50)]), r.choice([r.randrange(1, 6), r.randrange(1, 40)]))
                    c.value = value(r)
                    if r.random() < .5 and isinstance(c.value, (int, float)): c.number_format = r.choice(FORMATS)
                if r.random() < .4: ws.merge_cells(r.choice(["A1:B2", "C3:C9", "D1:F1"]))
            path = os.path.join(folder, "%04d.xlsx" % i)
            wb.save(path)
            patch(path, r)
            try:
                back = openpyxl.load_workbook(path, data_only=True)
            except Exception as e:
                f.write(json.dumps({"file": os.path.basename(path), "error": str(e)}) + "\n"); continue
            sheets = {}
            for ws in back.worksheets:
                sheets[ws.title] = {c.coordinate: shown(c.value) for row in ws.iter_rows() for c in row if c.value is not None}
            f.write(json.dumps({"file": os.path.basename(path), "names": back.sheetnames, "sheets": sheets}) + "\n")
main(sys.argv[1], int(sys.argv[2]))
