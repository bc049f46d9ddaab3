// Transcripts in workerd, which cannot compile modules while it runs, so they are imported. The body of a request is a
// transcript.
import samedeal from 'samedeal';
import { replay } from './replay.mjs';

export default {
  async fetch(request) {
    return Response.json(replay(await request.text(), { samedeal }));
  },
};
