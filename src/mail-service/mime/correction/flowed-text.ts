/**
 * Joins the lines of a text in format=flowed (RFC 3676). Each paragraph becomes one line, with the quote marks of its depth.
 * mailparser joins quoted lines with their marks and ignores their depth.
 * @param text with LF
 * @param delSp true for `delsp=yes`: the space of a soft line break is not part of the text
 */
export function joinFlowed(text: string, delSp: boolean): string {
  const paragraphs: string[] = [];
  let depth = 0;
  let pieces: string[] = [];
  const end = (): void => {
    if (pieces.length === 0) return;
    const paragraph = pieces.join('');
    const isEmptyQuote = depth > 0 && paragraph === '';
    paragraphs.push(depth === 0 ? paragraph : `${'>'.repeat(depth)}${isEmptyQuote ? '' : ' '}${paragraph}`);
    pieces = [];
  };
  for (const line of text.split('\n')) {
    const marks = /^>*/.exec(line)?.[0].length ?? 0;
    // The sender adds a space to lines that begin with a space, `From ` or `>`.
    const content = line.startsWith(' ', marks) ? line.slice(marks + 1) : line.slice(marks);
    const isSignature = content === '-- ';
    // A sender may end a paragraph without a fixed line: the depth changes, or the signature begins.
    if (marks !== depth || isSignature) end();
    depth = marks;
    const isSoft = content.endsWith(' ') && !isSignature;
    pieces.push(isSoft && delSp ? content.slice(0, -1) : content);
    if (!isSoft) end();
  }
  end();
  return paragraphs.join('\n');
}
