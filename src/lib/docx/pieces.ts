/** A check box that readers can change in Word. @param id unique in the document */
export function checkboxXml(id: number, checked: boolean): string {
  return (
    `<w:sdt><w:sdtPr><w:id w:val="${id}"/><w14:checkbox><w14:checked w14:val="${checked ? 1 : 0}"/>` +
    '<w14:checkedState w14:val="2612" w14:font="MS Gothic"/><w14:uncheckedState w14:val="2610" w14:font="MS Gothic"/></w14:checkbox></w:sdtPr>' +
    '<w:sdtContent><w:r><w:rPr><w:rFonts w:hint="eastAsia" w:ascii="MS Gothic" w:hAnsi="MS Gothic" w:eastAsia="MS Gothic"/></w:rPr>' +
    `<w:t>${checked ? '\u2612' : '\u2610'}</w:t></w:r></w:sdtContent></w:sdt>`
  );
}

/** A horizontal rule. */
export const ruleXml = (): string => '<w:p><w:pPr><w:pStyle w:val="HorizontalRule"/></w:pPr></w:p>';
