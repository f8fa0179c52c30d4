// A form of a change opens in a dialog. Without scripts it is a page of its own.
document.addEventListener('htmx:afterSwap', (event) => {
  if (event.target.id === 'dialog') event.target.showModal()
})
document.addEventListener('click', (event) => {
  if (event.target.closest('[data-close]')) {
    const dialog = event.target.closest('dialog')
    if (dialog) {
      event.preventDefault()
      dialog.close()
    }
  }
})
// A part of a page that cannot be loaded says so. Its link leads to the reason.
document.addEventListener('htmx:responseError', (event) => {
  const link = event.detail.target.matches('.later') && event.detail.target.querySelector('a')
  if (link) link.append(' (failed)')
})
// A dialog that cannot be filled is opened as a page, which says why.
document.addEventListener('htmx:responseError', (event) => {
  if (event.detail.target.id === 'dialog' && event.detail.xhr.status !== 401) location = event.detail.pathInfo.requestPath
})
// A page that comes back from the browser's memory may be sent again.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent
})
// A slash goes to the search, as on other pages of this kind.
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select')) return
  event.preventDefault()
  document.getElementById('find').focus()
})
// A form is sent once.
document.addEventListener('submit', (event) => {
  for (const button of event.target.querySelectorAll('button[type=submit]')) button.setAttribute('aria-busy', 'true')
  if (event.target.dataset.sent) event.preventDefault()
  if (event.target.method === 'post') event.target.dataset.sent = 'yes'
})
