/** The entry point of the page in the browser. The address decides what is shown; one stream brings the data. */
import { render } from 'preact';
import { CurrentPage } from './pages/CurrentPage.tsx';
import { Help, help } from './parts/Help.tsx';
import { TopBar } from './parts/TopBar.tsx';
import { listenToKeys } from './state/keys.ts';
import { followLinks } from './state/route.ts';
import { announcement, startStream } from './state/stream.ts';

function App() {
  return (
    <>
      <TopBar />
      <main id="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      <Help />
      <div class="hidden" aria-live="polite">
        {announcement}
      </div>
    </>
  );
}

document.addEventListener('click', followLinks);
listenToKeys(() => {
  help.value = true;
});
startStream();
render(<App />, document.getElementById('page')!);
