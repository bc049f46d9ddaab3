/**
 * A frame of another page with the sentence and the picture of a view. Its height depends on its width, which the other
 * page chooses: so the page in the frame tells its height, and a script beside the frame sets it. Without the script, a
 * frame that is too low can be scrolled.
 */

const KIND = 'samedeal-height';

const SCRIPT = `{const frame=document.currentScript.previousElementSibling;addEventListener("message",({source,data})=>{if(source===frame.contentWindow&&data?.kind==="${KIND}"&&Number.isFinite(data.height))frame.height=data.height})}`;

/** The HTML of a frame. `height` holds until the page in the frame has told its own. */
export function frameCode(address: string, title: string, height: number): string {
  const source = address.replaceAll('&', '&amp;');
  return `<iframe src="${source}" title="${title}" width="100%" height="${height}" loading="lazy" style="border: 0"></iframe>
<script>${SCRIPT}</script>`;
}

/** Tells the page around this one how high `content` is, now and whenever it changes, until the returned function is called. */
export function tellHeight(content: HTMLElement): () => void {
  const observer = new ResizeObserver(() => {
    // Any page may have the frame, and a height is no secret.
    parent.postMessage({ kind: KIND, height: Math.ceil(content.getBoundingClientRect().height) }, '*');
  });
  observer.observe(content);
  return () => observer.disconnect();
}
